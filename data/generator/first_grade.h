// The words and phrases of the first-grade text: what there is, what it looks like, and who does
// what, where and why. grammar.h explains the notation. A kind is a claim: every noun of kind
// `driven` can be driven, every noun of kind `gift` can be given.
#pragma once

namespace glassbox {

// singular plural; kinds; looks
inline constexpr const char* kNouns = R"(
boy boys; folk child somebody he; -little small tall big kind nice funny
girl girls; folk child somebody she; -little small tall big kind nice funny
child children; folk child somebody; -little small kind nice funny
man men; folk adult somebody he; old young tall kind nice !strong
woman women; folk adult somebody she; old young tall kind nice !strong
teacher teachers; folk role adult somebody mine; kind nice new good
doctor doctors; folk role adult somebody mine; kind nice new good
farmer farmers; folk role adult somebody farming; old kind nice !strong
mom; adult somebody family name mine she
dad; adult somebody family name mine he
grandma; adult somebody family name mine she
grandpa; adult somebody family name mine he farming
brother brothers; child somebody family kin he; -little big
sister sisters; child somebody family kin she; -little big
uncle uncles; adult somebody family kin he farming; tall funny
aunt aunts; adult somebody family kin she; tall funny
friend friends; child somebody kin; good new best
tom; child somebody name he
ben; child somebody name he
mia; child somebody name she
anna; child somebody name she
baby babies; baby mine; -little small
cat cats; pet animal mine; black white gray orange small big old fat
dog dogs; pet animal mine; black white brown big small old
kitten kittens; pet animal mine; black white gray -little small
puppy puppies; pet animal mine; black white brown -little small
rabbit rabbits; pet animal mine; white gray brown small soft
bird birds; flier animal; red blue yellow brown -little small pretty
owl owls; flier animal; brown white gray old
duck ducks; farm swimmer animal; white brown -little fat
goose geese; farm swimmer animal; white gray big
hen hens; farm animal; red brown white fat
cow cows; farm grazer animal; black white brown big old
horse horses; farm grazer animal; black white brown big !fast !strong
sheep sheep; farm grazer animal; white black soft -little
goat goats; farm grazer animal; white gray small old
pig pigs; farm animal; pink fat big -little
mouse mice; animal; gray brown white small -little
fish fish; animal; red orange small -little big
frog frogs; animal; green brown small -little fat
turtle turtles; animal; green old small !slow
bee bees; bug; yellow small busy
butterfly butterflies; bug; blue yellow orange white pretty
ant ants; ant; black red small busy
bear bears; wild animal; brown black big !strong
fox foxes; wild animal; red !fast
lion lions; zoo animal; big !strong old
elephant elephants; zoo animal; big gray old
monkey monkeys; zoo animal; brown small funny
apple apples; fruit food snack; red green yellow sweet big
pear pears; fruit food snack; green yellow sweet
banana bananas; banana food solid snack; yellow sweet
berry berries; berry; red blue black small sweet
carrot carrots; food solid snack; orange long fresh
nut nuts; nut; small brown
egg eggs; meal food solid; white brown fresh
sandwich sandwiches; meal food solid snack; big
cake cakes; treat food solid; sweet big round
cookie cookies; treat food solid snack; sweet small round
bread; mass food solid; fresh warm
rice; mass meal food cooked; white hot
soup; mass meal food cooked; hot warm
cheese; mass food solid; yellow
honey; mass; sweet
milk; mass drink; cold warm white
water; mass drink; cold clean
juice; mass drink; cold sweet
tea; mass; hot warm
grass; mass; green long wet
hay; mass; dry yellow
seed seeds; seed; small
leaf leaves; leaf; green yellow red brown dry big
bone bones; bone; big old
worm worms; worm; pink long
ball balls; toy gift mine thing; red blue green yellow orange big small round new
doll dolls; toy gift mine thing; pretty small old new
kite kites; toy gift mine thing; red blue green yellow big new pretty
drum drums; toy mine thing; red blue big !loud
boat boats; boat; red blue white -little old small
train trains; vehicle; red blue green long !fast old !loud
car cars; vehicle driven mine; red blue green white black new old !fast
truck trucks; vehicle driven; red blue green big old !loud
bus buses; vehicle; yellow red green big
plane planes; plane; white big !fast !loud
bike bikes; gift mine; red blue green new old !fast
book books; gift mine thing; red blue new old good
story stories; story; long short good funny new
letter letters; letter; long short
song songs; song; new old pretty funny short
picture; picture gift; big pretty funny small
game games; game; new !fun
hat hats; worn clothes mine thing; red blue green yellow black warm new old big
coat coats; worn clothes mine thing; red blue green brown warm long new old
shirt shirts; worn clothes mine thing; red blue white green new clean old
shoe shoes; pair clothes mine thing; black brown red new old
sock socks; pair clothes mine thing; red blue white black warm clean
dress dresses; dress; red blue pink yellow pretty new long
cup cups; dish mine thing; blue white red small clean
plate; dish; white blue big clean round
bowl; dish; blue red white big round
box boxes; holder; big small red blue brown old
basket; holder; big small brown old
bag bags; holder mine thing; red blue green big small new
table; furniture; big old long round
chair; furniture; red blue small old
bed; furniture ours mine; big small soft warm
lamp; lamp; red yellow small old
door doors; door; red green blue big old
window windows; window; big small clean
pencil pencils; pencil mine thing; red blue green long short new
house houses; house ours mine; big small old new white red
room; room ours mine; big small clean
nest nests; nest; small
tree trees; tree; tall old big green
flower flowers; flower; red yellow white pink blue pretty
rainbow; rainbow; pretty
hill; hill; high green
lake; lake; big blue
pond; pond; small -little
river; river; long
cloud clouds; cloud; white gray big dark
star stars; star; small pretty
sun; only; hot yellow
moon; only; round yellow
snow; mass; white cold soft
)";

// name: alternative; ...
inline constexpr const char* kPhrases = R"(
sentence: 36 [acts]; 12 [senses]; 12 [copula]; 9 [there]; 13 [modal]; 7 [command]; 6 [joined]
 8 [reason]; 6 [not]; 6 [have]; 5 [knows]; 3 [weather]; 3 [facts]

# Who
who: 9 <!pronoun>; 9 <!* somebody>; 1 [pair]
someone: <!pronoun>; <!d somebody>
nice.one: <!pronoun>; <!d- somebody>
animal: 8 <!d animal>; <!d bug|ant>
pair: mom and <!d- dad> =they; grandma and <!d- grandpa> =they; tom and <!d- mia> =they
 anna and <!d- ben> =they; <!my brother|sister|friend> and i =we; <!d- mom|dad> and i =we
 the boy and <!the- girl> =they

# Places and times
outside: in the garden; in the park; in the yard; outside; on <the hill>; by <the lake|pond|river>
 under <the tree>; in the sun; on the beach; in the forest
inside: in <the house|room>; at home; in the kitchen; inside
at.meal: at <the table>; in the kitchen; at home; in the garden; under <the tree>
seat: on <the chair|bed>; on the floor; by <the window|door>; at <the table>; on the grass
 under <the tree>; next to <whom>; in the sun
goal: to school; to the park; to the beach; to the store; to the zoo; to the farm
 to <the lake|pond|river>; home; to town; up <the hill>; to <my- house>
with: with <whom>; with <own friend>; with <the- family|friend>
then.somebody: in the morning; 2 every day; today; on [rainy|sunny|windy] days
then.child: after school; at school
where.pet: in the garden; in the yard; in <the house|room>; under <the table|bed|chair|tree>
 in <the basket|box>; on <the chair|bed>; by <the door|window>; on the grass
 behind <the door|house|tree>; next to <whom>
where.farm: on the farm; in the barn; in the field; by the barn; behind the barn
where.grazer: in the field; by <the tree|river>; on <the hill>
where.flier: in <the tree|nest>; in the sky; in the garden; on the roof
 over <the house|tree|lake>
where.swimmer: on <the pond|lake|river>; by <the pond|lake|river>; in the water
where.mouse: under <the bed|table>; in <the house|box>; in the barn; behind <the door|box>
 in the kitchen
where.fish: in <the pond|lake|river>; in the water; in the sea
where.frog: in <the pond>; by <the pond|lake>; in the grass; on <the leaf>
where.turtle: in the water; by <the pond|lake|river>; in the grass; in the sun
where.bug: on <the flower|leaf>; in the garden; over <the flower>; by <the window>
where.ant: on <the leaf|tree|flower>; on the ground; in the grass; under <the leaf>
where.wild: in the forest; behind <the tree>; by <the river|lake>; on <the hill>
where.zoo: at the zoo; under <the tree>
where.somebody: in the garden; in the park; in the yard; by <the lake|pond|river>
 in <the house|room>; at the store; at school; at home; on <the hill>; on the beach
 in the kitchen; by <the window|door>; on <the bus|train>; in <the car>; at <the table>; outside
where.baby: in bed; on <the bed>; in <my- room>; on the floor; in the kitchen; at home
where.thing: on <the table|chair|bed>; in <the box|bag|basket>; under <the bed|table|chair>
 in <my- room>; on the floor; by <the door>; behind <the door|box>
where.bike: by <the house|door|tree>; in the yard; on the street; behind <the house>
where.boat: on <the lake|river|pond>; on the sea; by <the lake|river>
where.vehicle: on the street; by <the house>; in the town
where.plane: in the sky; over <the house|lake>
where.solid: on <the table|plate>; in <the bowl|basket|bag>; in the kitchen
where.cooked: in <the bowl>; on <the table>
where.fruit: in <the tree|basket|bowl|bag>; under <the tree>
where.drink: in <the cup>; on <the table>
where.dish: on <the table>; in the kitchen
where.holder: on <the table|chair>; by <the door|bed>; under <the bed|table>; in <the room|car>
where.letter: on <the table>; in <the box|bag>; under <the door>
where.picture: in <the book|room>; by <the door|window>
where.furniture: in <the room|house>; by <the window|door>
where.chair: in the kitchen; in the garden; at <the table>
where.table: in the kitchen; in the garden
where.lamp: on <the table>; by <the bed|door>
where.house: on <the hill>; by <the lake|river>; in the town; in the forest; by the sea
 on the street
where.nest: in <the tree>; on the roof; in the barn
where.tree: in the garden; in the park; in the yard; by <the house|river|lake>; on <the hill>
 behind <the house>
where.flower: in the garden; in the field; by <the house|door|pond>; on <the table>
 under <the tree>
where.leaf: on the ground; on <the tree>; in the water
where.bone: under <the tree|table>; in the yard; in the garden
where.worm: in the ground; under <the leaf>; in <the apple>; in the garden
where.cloud: in the sky; over <the hill|house|lake>
where.star: in the sky; over <the hill|house|lake>

# What people do of their own will
do.somebody: walk [goal]; walk [outside]; walk in the snow; run [outside]; run [goal]
 2 go [goal] ([with]); 2 sit [seat]; stand by <the door|window|tree>; 4 eat <food>
 3 eat <o- food> [at.meal]; 2 eat [breakfast|lunch|dinner] ([at.meal])
 eat [breakfast|lunch|dinner] [with]; eat <berry|nut>; eat <s berry|nut>; drink <drink|tea>
 drink <o- drink|tea> [at.meal]; 2 drink <drink> from <the cup>; 2 read <book|story|letter>
 read <the book|letter> [seat]; read <a story> to <d- family|friend|baby|child>; write <a story>
 write <a letter> to <d- somebody>; write with <own pencil>
 2 draw <a animal|vehicle|boat|flower|tree|house>; draw <s animal|flower|tree|house>
 draw with <own pencil>; paint <a- picture>; paint <s flower|tree|house>
 paint <the door|chair|table|box>; paint <a picture> for <whom>; sing; sing <song>; sing [outside]
 sing to <the baby>; dance; dance [outside]; dance [with]; swim; 2 swim in <the lake|river|pond>
 swim in the sea; help <d somebody>; 3 help <whom>; help <d- family> [inside]
 make <a sandwich|cake|kite|doll>; make <the- soup|bread|juice>
 make <a sandwich|kite|doll|cake> for <whom>; bake <a cake>; bake <cookie>; bake <the- bread>
 bake <a cake> for <d- somebody>; cook <the- soup|rice>; cook <o- egg>
 cook [lunch|dinner] for <whom>; wash <his> [hands|face]; wash <the- dish|clothes|pet|car>
 wash <thes- fruit|clothes>; clean <the- room|house|table|window>; clean the kitchen
 brush <his> [teeth|hair]; 2 open <the door|window|box|bag|basket|letter>
 2 close <the door|window|box|bag>; 2 carry <d holder|book|furniture>; carry <d holder|toy> [goal]
 bring <d thing> to <d- somebody>; bring <whom> <o food|thing>; give <whom> <a gift|treat|snack>
 give <the gift|treat> to <d- somebody>; find <own thing>; 2 find <d thing> {@where}
 look for <d thing|pet>; 2 look at <d animal|flower|picture>
 look at <the star|moon|cloud|rainbow>; look at <thes star|cloud>; look out of <the window>
 ride <own bike> ([goal]); 2 ride <the horse>; ride on <the bus|train>; 3 feed <d pet|farm>
 feed <the baby|fish|bird>; hug <d pet|baby|family>; plant <a- flower|tree>
 plant <s- flower|tree|seed>; plant <s flower> in the garden; pick <fruit|flower>; pick <s berry>
 pick <s flower> for <d- somebody>; throw <d ball> to <d- somebody>; catch <the ball>
 kick <d ball>; 2 wear <a worn>; 3 wear <own clothes>; 2 put on <own clothes>
 2 put <d ball|doll|book|hat|cup|pencil|bag> on <the table|chair>; put <the- food> on <the table>
 put <d ball|doll|book|hat|shirt|sock|cup|pencil> in <the box|bag|basket>
 put <thes fruit> in <the basket|bag|bowl>; show <whom> <d thing|picture|pet>
 show <d thing|picture> to <d- somebody>; tell <whom> <a story>; tell <d- somebody> <a story>
 wait for <the bus|train>; wait for <whom>; wait at <the- door>; 2 play <a game> ([with])
 2 play with <d pet|baby>; play with <whom>; 2 watch <d animal>
 watch <the bird|swimmer|bug|pet> {@where}; listen to <the song|story|bird|owl>
 listen to <whom>; buy <a clothes|toy|book|snack>; buy <o- food|toy> at the store; sleep
 sleep in <the bed>; sleep in <own room>; sleep at home; go to bed; rest [seat]
 work in the garden; wake up in the morning; come home; laugh; build <a house>
 stay [at home|inside]; call <d somebody>; call <the dog|cat|puppy>
do.child: 2 play [outside]; play [inside]; go to school ([with]); learn to [skill]
 4 play with <o toy>; play; play in the [mud|snow]; play with <own toy>
 2 fly <d kite> ([outside]); jump; jump into the water; jump on <the bed>; run
 climb <d tree|hill>; hide behind <the tree|door|house>; hide under <the bed|table>
 count <thes animal|star|fruit>; count <s animal>; count to ten; play <own drum>
 kick <d ball> [outside]; throw <d ball>; roll in the snow; [sing|read|draw] at school
 ask <the teacher|mom|dad> for help; 2 write <his> name
do.adult: 2 drive <d driven>; drive <d driven> [goal]; drive to work
 cook [breakfast|lunch|dinner]; work; work all day; read <a story> to <the child|boy|girl>
do.farming: work in the field; work on the farm; feed <thes farm>; drive <the truck>
 carry <the hay> to <the horse|cow|sheep>; wash <the horse|pig>; open the barn
do.she: 2 wear <a dress>; 3 wear <own dress>; 3 put on <own dress>; 2 make <a dress>
do.teacher: read <the book> to <whom>; help <d child|boy|girl>
do.doctor: help <the baby|child|man|woman>; look at <the baby>
do.baby: sleep; sleep in <own bed>; cry; cry at night; smile; smile at <d- somebody>
 smile at <whom>; drink <the milk>; drink <o- milk> from <the cup>; laugh; laugh at <d pet>
 play with <a toy>; eat <banana|rice|pear>; play on the floor; sit on <the bed>
 look at <the cat|dog|lamp|ball>; wake up at night; sleep all day
skill: swim; read; write; ride <a- bike>; sing; draw; bake <a- cake>; bake [cookies|bread]; cook
 paint; dance; fly <a- kite>; play <the- drum>; count

# What animals do
do.animal: look for food
do.pet: sleep; sleep on <the bed|chair>; sleep under <the table|bed|chair|tree>
 sleep in <the basket|box>; sleep on the floor; sleep all day; sit by <the door|window|tree>
 run to <d- somebody>; play; 2 play with <d ball|doll|sock|shoe>; play [outside]
 hide under <the bed|table|chair>; hide behind <the door|box|tree|chair>; follow <d somebody>
 follow <whom> [goal]; wait at <the- door>; rest in the sun; sleep next to <d- somebody|baby>
 drink <the water>; eat from <the bowl|plate>; run after <d ball>; look out of <the window>
 jump over <the box|basket>; run [outside]; play with <whom>; sit next to <whom>; jump
do.cat: 2 chase <a mouse>; catch <a mouse>; drink <the milk>; climb <the tree>
 watch <the bird|fish>; look at <the bird|fish>; sit on <the chair|bed>
 jump on <the table|bed|chair>; eat <the- fish>
do.kitten: drink <the milk>; climb <the tree>; play with <the leaf>; watch <the bird|fish>
 jump on <the bed|chair>; chase <the butterfly|ball>
do.dog: 3 bark; 3 bark at <the cat|car|truck|bird>; bark at the moon; bark at <d- somebody>
 dig in the garden; dig under <the tree>; find <a bone>; find <s bone>; carry <d bone|ball|shoe>
 2 hide <d bone>; catch <the ball>; swim in <the lake|river>
 bring <the ball|shoe> to <d- somebody>; 2 chase <d cat|ball|goose>; bark at night; 2 eat <d bone>
do.puppy: 2 bark; bark at <the ball|cat|duck>; dig in the garden; chase <the ball|butterfly>
 carry <d shoe|sock|ball>; find <bone>
do.rabbit: hop [outside]; hop; hop over <the flower>; eat <carrot|leaf>; eat <the grass>
 dig in the ground; hide in the grass
do.flier: 3 fly; fly over <the house|tree|hill|lake|river>; fly to <the tree|nest>
 sit in <the tree>; sit on the roof; sleep in <the tree|nest>; drink from <the pond|lake|river>
 fly [away|home]
do.bird: 3 sing; sing in <the tree>; sing in the morning; eat <s berry|seed|worm>
 eat <a berry|seed|worm>; 3 build <a nest>; build <a nest> in <the tree>; feed <his> babies
 sing [outside]; find <a worm|seed|berry>
do.owl: fly at night; sleep in the day; 2 catch <a mouse>; look at <the moon|star>; call at night
do.swimmer: swim; swim on <the pond|lake|river>; walk to <the pond|lake|river>
 eat <the grass|bread>; sleep by <the pond|lake|river>; fly over <the lake|river|house>
 jump into the water
do.hen: 2 eat <s worm|seed>; lay <a egg>; lay <s egg>; lay eggs every day; sit on <his> eggs
 run in the yard; sleep in <own nest>; look for <s worm|seed>
do.farm: sleep in the barn; stand by <the tree|river>; stand by the barn; rest in the sun
 rest under <the tree>; go home; eat; drink <the water>; walk to the barn; live on the farm
 come to <the farmer>; follow <the farmer|grandpa>
do.grazer: 3 eat <the grass|hay>; stand in the field; walk [up|down] <the hill>
 eat <the grass> in the field; walk in the field; drink from <the river|pond>
do.horse: run in the field; run fast; jump over <the river>; eat <apple|carrot>
 carry <the boy|girl|farmer>; run over <the hill>
do.cow: give <s- milk>; give us <o milk>
do.sheep: follow <the dog>; run from <the dog>
do.goat: climb <the hill>; eat <d flower|hat>; eat <leaf>; jump over <the box|basket>
do.pig: roll in the mud; 2 eat <apple|carrot>; eat <o bread>; dig in the mud; sleep in the mud
 run in the yard
do.mouse: eat <the cheese|bread>; eat <a nut|seed>; hide in <the box|house|shoe>
 run from <the cat|owl>; run under <the bed|table|chair>; sleep in <the nest|shoe|box>
 find <the cheese|bread>; carry <nut|seed>; run
do.fish: 3 swim; swim in <the pond|lake|river>; swim in the sea; jump out of the water; eat <worm>
 hide under <the leaf>; swim fast; swim to <the boat>; swim [away|down]
do.frog: jump; jump into <the pond|lake>; sit on <the leaf>; hop; hop in the grass
 eat <s ant|worm>; sit by <the pond|lake>; swim; swim in <the pond|lake>; jump over <the leaf>
 sing at night
do.turtle: walk to <the pond|lake|river>; swim in <the pond|lake>; eat <leaf|berry>
 eat <the grass>; hide <his> head; sit in the sun; walk slowly; sleep by <the pond|river>
do.bug: fly; 2 fly to <the flower>; sit on <the flower|leaf>; fly over <the flower>
 fly [outside]; fly from flower to flower
do.bee: make <o honey>; work all day
do.butterfly: 4 sit on [my|your|his|her] [hand|nose]; fly away; sit on <d hat>
 rest on <the flower|leaf>
do.ant: carry <leaf|seed>; carry the bread home; walk up <the tree>; work all day
 live in the ground; find <the bread|cake|seed>; eat <the cookie|cake|leaf>; walk on <the leaf>
do.wild: run in the forest; walk in the forest; hide behind <the tree>
 drink from <the river|lake>; live in the forest; sleep in the forest; come out at night
 walk to <the river|lake>
do.bear: 2 eat <o honey>; 2 eat <s berry|nut>; eat <a fish>; sleep all winter; climb <the tree>
 swim in <the river|lake>; catch <fish>; look for <s berry|honey>
do.fox: 3 chase <the rabbit|mouse|hen|duck|goose>; sleep in the ground; run over <the hill>
 run from <the dog>; look at <the hen|goose|moon>
do.zoo: live at the zoo; look at <whom>; look at <the child|girl|boy|man|woman>; drink <the water>
 sleep at the zoo; rest under <the tree>; walk to <the tree>
do.lion: sleep in the sun; run fast; sleep all day; sleep under <the tree>; rest in the sun
do.elephant: eat <leaf|banana|apple>; eat <the grass>; play in the [water|mud]
 carry <the boy|girl|tree>
do.monkey: 3 eat <banana|nut|fruit>; climb <the tree>; jump from tree to tree; sit in <the tree>
 play in <the tree>; throw <nut|banana>

# What things do
do.ball: roll; roll down <the hill>; roll under <the bed|table|chair>; fall into the water
do.kite: fly; fly in the wind; fly over <the house|tree|hill>; fly high
do.train: stop here; come at night; go to town; go fast
do.bus: stop here; stop at school; go to town; stop by <the house>; go to school
 come in the morning
do.car: stop; stop by <the house>; go fast; go down <the hill>
do.truck: stop; go to town; stop at the farm; carry <the hay>; go up <the hill>
do.plane: 2 fly; fly over <the house|hill|lake>; fly in the sky; fly fast
do.boat: go down <the river>; go over <the lake>; 2 rest on <the lake|pond>
do.leaf: fall; fall to the ground; fall from <the tree>; fall on <the house|hat>
 fall into <the pond|river|lake>
do.flower: grow; grow in the garden; grow in the field; grow in the sun
 grow by <the door|house|pond>
do.tree: grow; grow in the garden; grow by <the house|river|lake>; grow on <the hill>
do.fruit: fall from <the tree>; fall to the ground; grow on <the tree>
do.star: shine; shine at night; shine in the sky; shine over <the house|hill|lake>
do.cloud: hide the [sun|moon|stars]; come over <the hill>; go over <the hill|house>
do.sun: shine; shine in the sky; shine on <the house|flower|lake|tree|pond>; shine all day
 3 come up; go down; shine today; come out
do.moon: shine; shine at night; shine on <the house|lake|hill>; come out at night; come up
do.snow: fall; fall on <the house|tree|hill>; fall at night; fall in winter
do.door: open; close
do.river: run to the sea; run by <the house>

# Plain statements
acts: 5 [someone] {brief~}; 3 [someone] {brief~} {then}; 3 <!s animal> {brief~}
 3 <!d animal> {brief~}; 11 [who] {do~}; 8 [beast] {do~}; <!* baby> {do~}; 2 [thing.acts]
 2 [who] [often] {do~}; [beast] [often] {do~}; <!g animal> never {cannot~}
 [someone] never {never~}
beast: 8 <!* animal>; <!* bug|ant>
thing.acts: 7 <!* ball|kite|train|bus|car|truck|plane|boat> {do~}
 5 <!* leaf|flower|tree|cloud> {do~}; <!* fruit> {do~}; <!d door> {do~}
 2 <!the sun|moon|snow|river> {do~}; 2 <!thes star> {do~}; <!s star> {do~}
often: always; often; sometimes
brief.somebody: sing; dance; read; sleep; run; laugh; swim; eat; draw; write; smile; rest; cook
brief.child: jump; 3 play
brief.adult: work; work
brief.pet: sleep; run; jump; eat; play
brief.dog: bark; dig; bark
brief.puppy: bark; dig
brief.rabbit: hop; hop
brief.flier: 2 fly
brief.bird: 2 sing
brief.farm: eat; rest; sleep
brief.swimmer: swim
brief.frog: jump; hop; swim
brief.fish: swim
brief.turtle: swim; rest; sleep
brief.mouse: run; hide
brief.zoo: sleep; eat; rest
brief.monkey: climb; play
brief.wild: run; hide; sleep
never.somebody: sleep [inside|outside]; cry; eat <s nut|egg|berry>; drink <s- tea|milk>
 run inside; play inside; wear <s worn>; work at night; run at school; sing at night; [dance|swim]
 go to the zoo; eat in bed; read in bed; play with <s doll|drum>

# Seeing, liking, wanting
senses: 6 [someone] see~ [seen]
 9 [someone] see~ <animal|bug|thing|bike|vehicle|flower|ant|boat|worm> {@where}
 2 [someone] see~ <whom>; 2 [someone] see~ <d somebody> {@where}; 4 [someone] hear~ [sound]
 6 [someone] like~ [liked]; 3 [someone] love~ [loved]; 3 [someone] want~ {wanted}
 2 [someone] need~ [needed]; 2 [beast.sees]; <!d pet> like~ <whom>; <!d pet> love~ <d somebody>
 <!d pet> want~ [petwish]; 2 [someone] feel~ [feeling]; [someone] have~ fun [outside]
 [someone] look~ {feels}; <!d animal|baby> look~ {feels}
 <!d child|boy|girl|tom|ben|mia|anna> like~ [school|<own teacher>]
beast.sees: 2 <!d pet> see~ <the mouse|bird|fish|frog|butterfly|moon>
 <!d farm> see~ <the farmer|grandpa|dog|fox>; <!d mouse> see~ <the cat|owl|cheese>
 <!d wild> see~ <the moon|river|rabbit|fish>; <!d zoo> see~ <whom>; <!d cat|owl> see~ <a mouse>
seen: 3 <animal>; <s dress> at the store; <bug|ant>; <thing|bike|vehicle|plane|boat>
 <rainbow|star|moon|cloud|sun>; <flower|tree|house|lake|hill|river>; <the fruit|food|dish>
sound: <pet|bird|hen|owl|bee|cow>; <bird|owl|dog> {@where}; <the song|drum|bus|train|plane>
 <a song|drum|bus|train|plane>; the rain; the rain on the roof; the wind; the wind in <the tree>
 the school bell; <d somebody>; <the baby>
liked: 4 <s animal|bug>; 2 <s fruit|snack|toy|flower|book|story|game|boat|train>; <s- food>
 <this book|story|song|picture|game|hat|toy>; the [snow|rain|wind|sun]; [summer|winter]
 <own house|room>; <s- drink|honey|tea>
loved: 2 <the family>; <whom>; <d pet>; <own baby|dog|cat|doll|friend>; <s pet|story|song|game>
 <s- honey>; <s cake>
wanted.child: 2 <a toy>; <the toy>
wanted.somebody: 2 <a book|bike|picture|pet>; 2 <a snack|treat>; <o- food>; <o- drink>
 <the book|hat>; more [rice|soup|bread|milk|juice|water]; one more [cookie|apple|song|story|game]
needed: <a holder|pencil|cup|plate|bowl>; <a lamp>; <a clothes|chair|bed>
 <own clothes|bag|pencil>; <whom>; <o- water>; a friend; more [time|water|help]
petwish: <o- drink>; <own bone|ball>; some food; to [play|sleep|eat]; to play with <whom>
feeling: happy; sad; sick; good; cold; warm; hot; tired; the [sun|wind|rain|snow]
 very [happy|sad|sick|good|cold|warm|tired]

# To be
copula: 5 [someone] be~ {feels}; 2 [someone] be~ very {feels}; [nice.one] be~ very {trait}
 [nice.one] be~ {trait}; 2 [someone] be~ {feels} [today|now]; 2 [someone] be~ {state}
 4 <!d animal> be~ {feels}; <!d animal> be~ very {feels}; <!d animal|baby> be~ {state}
 <!d baby> be~ {feels}; 4 [someone] be~ {where}; 6 [animal] be~ {where}; <!d baby> be~ {where}
 4 <!d thing|bike|vehicle|furniture|dish|holder> be~ {where}
 3 <!d fruit|food|drink|flower|letter|picture|lamp|house|nest|tree|cloud|star> be~ {where}
 <!d thing|bike|vehicle> be~ [here|there]; 6 <!d- animal|bug|ant> be~ {looks}
 6 <!d- thing|bike|vehicle|furniture|dish|holder|boat> be~ {looks}
 5 <!d- fruit|food|drink|flower|tree|house|lake|pond|sun|moon|snow|star|cloud> be~ {looks}
 4 <!d% animal|thing|bike|vehicle|flower> be~ {quality}
 2 <!d- animal|vehicle|thing|house> be~ very {quality}
 2 <!the- animal|thing|flower> {where} be~ {looks}; 4 [role]
 2 <!d thing|food|letter|picture|flower> be~ {from}; <!d thing> be~ not for <whom>
 <!d door|window|box|bag> be~ open; <!d cup|bowl|box|bag|basket> be~ [full|empty]
 <!the holder> be~ full of <s fruit|toy|book|egg|nut|berry|leaf>; <!d somebody> be~ [with]
 <!one pet> be~ <my friend>
from.bike: for <whom>; from <the family>
from.thing: from <the family>; for <whom>; for <d- somebody>
from.food: for <whom>; for <d- somebody>; from the [store|farm]
from.letter: from <the family>; for <whom>
from.picture: for <whom>; from <the family>; of <a animal|flower|house>
from.flower: for <whom>; for <d- somebody>
role: 2 <!the family> be~ <as role>; <!pronoun> be~ <as role>; <!the friend> be~ <as- boy|girl>
 it =it be~ <a animal>; it =it be~ <a thing|flower|fruit|vehicle>
 this =it be~ <my thing|pet|family|friend|room|house>
 this =it be~ <a thing|flower|fruit|vehicle|dish>; that =it be~ <a animal|vehicle|tree|hill|house>
 these are <s fruit|toy|flower|clothes>; those are <s animal|vehicle|star>
 that =it be~ <my house|bike|car|family>; my name is [tom|ben|mia|anna]
 [his|your] name is [tom|ben]; [her|your] name is [mia|anna]
feels.somebody: happy; sad; tired; sleepy; hungry; thirsty; sick; busy; cold; warm
trait.somebody: good; kind; nice; funny
feels.baby: happy; sad; tired; sleepy; hungry; sick
feels.animal: hungry; tired; happy
feels.pet: sleepy; dirty; clean; sad; sick; thirsty; wet
feels.farm: dirty; sleepy; thirsty; wet
feels.wild: thirsty; wet; sleepy
feels.zoo: thirsty; sleepy
state.somebody: ready; late; here; home; awake; safe; ready for [breakfast|lunch|dinner]
state.child: ready for school; late for school; good at games
state.animal: safe; awake; quiet
state.baby: awake; safe; quiet; here

# There and here
there: 6 there =it be~ <a animal|bug|thing|bike|vehicle|flower|boat|folk> {@where}
 6 there =they be~ <n animal|bug|thing|bike|vehicle|flower|fruit|star|boat|worm|bone|folk> {@where}
 2 there =it be~ <a fruit|dish|furniture|letter|tree|house|nest|worm|bone> {@where}
 2 there is <some drink|bread|cooked|cheese> {@where}; here =it be~ <my thing|pet|family>
 here =it be~ <a thing|snack|dish|pencil> for <whom>
 here =they be~ <n fruit|snack|toy|flower> for <whom>
 here =it come~ <the bus|train|teacher|farmer|dog>
 there =it be~ <a cloud|rainbow|plane> in the sky; there is snow on <the house|tree|hill>

# Can, will, want, like
modal: 2 [someone] can {do}; 3 [someone] can [skill]; 2 [someone] can {can}
 3 <!g animal> can {can}; 2 <!d animal> can {can}; 3 [someone] want~ to {do}
 3 [someone] like~ to {do}; 2 <!d animal> like~ to {do}
 2 [someone] will {do} ([soon|today|tomorrow]); <!d animal> want~ to {do}; [someone] love~ to {do}
 [someone] must {must}; [someone] can help <whom>
 [someone] will be [late|home soon|here soon|back soon]; [someone] learn~ to [skill]
can.somebody: run fast; count to ten; climb <d tree|hill>; carry <d holder|chair>
 see <d animal|star>; hear <d bird|dog|cow|drum>; find <d thing>; write <his> name
 catch <the ball>; make <a kite|cake|sandwich>; come [today|home|with <whom>]; sing well
 swim well; help <d somebody>
can.child: jump high; hop
can.adult: drive; drive <d driven>; cook well
can.pet: run fast; run; jump; swim
can.cat: climb <the tree>; jump; see at night; catch <a mouse>
can.dog: bark; swim; find <a bone|ball>; catch <a ball>; help <whom>
can.rabbit: hop; dig; jump high; hop fast
can.flier: fly; fly high
can.bird: 2 fly; sing; sing well; build <a nest>
can.owl: see at night; fly at night
can.swimmer: swim; fly; swim well
can.hen: lay <s egg>; run
can.grazer: run; eat <o- grass>
can.horse: run fast; jump; jump high; carry <whom>; run
can.pig: run; swim; dig
can.fish: 2 swim; swim fast; swim well
can.frog: 2 jump; jump high; swim; hop
can.turtle: swim; swim well; walk slowly
can.mouse: run fast; hide well; hide in <a shoe|box>
can.bear: climb <the tree>; swim; catch <fish>; run fast
can.fox: run fast; hide well; dig
can.lion: run fast; see at night
can.elephant: carry <a- tree>; swim; help <whom>
can.monkey: climb <the tree>; climb; climb well; jump; throw <nut>
must.somebody: go home; go to bed; wash <his> hands; brush <his> teeth; wait; wait for <whom>
 stop; help <whom>; clean <the- room>; be [quiet|home soon]; eat; sleep; wake up now; work today
 stay at home; feed <d pet>; read <the book>; write <a letter>; go now; find <own shoe|book|bag>
must.child: go to school; be [good|kind]

# No and not
not: 4 <!g animal> cannot {cannot}; <!the animal> cannot {cannot}; 2 <!d baby> cannot {cannot}
 <!d- doll> cannot {cannot}; 4 [someone] do~ not {avoid}; 2 [someone] do~ not like [disliked]
 4 <!d animal> do~ not {avoid}; 2 [someone] be~ not {feels}; <!d animal> be~ not {feels}
 2 <!d thing|animal|somebody> be~ not {where}; [someone] cannot [find|see|open|carry] <the holder>
 2 [someone] cannot find <own thing>; [someone] cannot see <the thing|animal>
 2 [someone] do~ not [have|want|need] <a hat|coat|bag|book|cup|pencil|holder>
 [someone] do~ not see <whom>; it =it be~ not <my thing>
cannot.pet: read; write; drive; fly; read <a- book>; open <the door|window>; ride <a- bike>
cannot.farm: read; read <a- book>; write; climb <s tree>; ride <a- bike>; drive <a car|truck>
 sing
cannot.fish: walk; run; sing; fly; climb <s tree>; hop; read; bark
cannot.turtle: fly; run; run fast; bark; jump; climb <s tree>; sing
cannot.frog: read; fly; bark; write; drive <a- car>
cannot.mouse: fly; bark; drive <a- car>; open <the door|box>; read <s book>
cannot.zoo: fly; read; write; drive <a- car>; read <s book>
cannot.wild: fly; drive; read; write; read <s book>
cannot.flier: read; bark; drive <a- car>; write
cannot.baby: walk; read; run; write; swim; read <a- book>; ride <a- bike>; climb <a- tree>; drive
 cook; open <the door|box>
cannot.doll: walk; sing; eat; sleep; read; hear <whom>; see <whom>; help <whom>
avoid.somebody: want to [sleep|sing|dance|cry|go home|go to bed|stop]; cry; sleep; know
 know <whom>; run inside; wake up; eat <s egg|nut>; eat <s- soup|cheese|rice>; play inside
 like to [wait|run|swim|sing|dance|clean|work]; work today; hear <whom>; drink <s- tea|milk>
 live here; feel [well|good|sick]; look at <whom>; need help; wear <s hat>; wear <a hat|coat>
avoid.child: go to school today; want to go to school
avoid.animal: like the [rain|snow|cold|wind]; sleep; sleep at night; want to sleep; hear <whom>
 see <whom>; wake up; run from <whom>; know <whom>
avoid.pet: come home; eat <s fruit>; sleep on <the bed>; want to come [in|here|home]
disliked: <s bug|ant|nut|egg|berry>; the [rain|cold|wind|snow]; <s- food>
 <this food|hat|shirt|game|song>; to [wait|run|sing|cry|clean]; <s- tea|honey>

# To have
have: 5 [someone] have~ {owns}; 2 [someone] have~ <n friend|brother|sister>
 2 <!one somebody> have~ [body]; i <!i> have~ [body]; you <!you> have~ [body]
 [he|she] =he have~ [body]; 4 <!d animal> have~ {parts}; 3 <!g animal> have~ {parts}
 3 <!one animal> have~ {part}; <!a- animal> have~ {part}
 2 [someone] have~ <a- meal> for [breakfast|lunch|dinner]; <!one house> have~ <a door|window>
 <!d house> have~ <n door|window>; <!d tree> have~ <s leaf>
 <!d bike|car|truck|bus> have~ [big|new|red|black] wheels; <!d pet> have~ <a bone|ball|bed|bowl>
 [someone] have~ [no time|time to play|a good day|a bad day|a bad cold|work to do]
 <!d child|boy|girl|tom|ben|mia|anna> have~ school today
owns.somebody: 2 <a bag|hat|coat|shirt|book|bike|cup|pencil|picture|house>; 2 <a pet>
 2 <n bag|hat|coat|shirt|sock|shoe|book|cup|pencil|pet>
owns.child: <a toy>; <n toy>
owns.adult: <a car|truck>
owns.farming: <n farm>
body: two [hands|eyes|ears|feet|legs]; [brown|blue|green] eyes
 [black|brown|red|long|short|gray] hair; cold [hands|feet|ears]; a [small|big|red|cold] nose
 [big|small|warm|cold|clean|dirty] hands; a [nice|small|round] face
parts.pet: [short|soft|small] ears; four [legs|feet]; soft hair; [small|white] teeth
 [big|brown] eyes
part.pet: a [wet|small|pink|black] nose
parts.cat: green eyes; soft feet
part.cat: a [long|soft] tail
parts.dog: [big|long] ears; big teeth
part.dog: a [long|short] tail
parts.rabbit: long ears; big feet
part.rabbit: a [short|soft] tail
parts.flier: two wings; [big|small] wings; two legs; [black|round] eyes
parts.swimmer: two wings; [big|white] wings; [orange|big] feet; two legs
parts.hen: two wings; two legs; small eyes
parts.grazer: four legs; [big|brown] eyes; big teeth; [strong|long] legs; soft ears
part.grazer: a [long|short] tail
parts.pig: four legs; [pink|big] ears
part.pig: a [short|small] tail; a [big|wet|dirty] nose
parts.mouse: [small|pink|round] ears; small feet
part.mouse: a [long|pink] tail; a pink nose
parts.fish: [big|round] eyes; no legs; no feet
part.fish: a [red|big|pretty] tail
parts.frog: [long|strong|green] legs; [big|round] eyes; wet feet
parts.turtle: short legs; small eyes
part.turtle: a [small|short] tail; a small head
parts.wild: strong legs; [big|strong|white] teeth; small ears
part.wild: a [black|wet] nose
parts.fox:
part.fox: a [red|long|soft] tail
parts.bear: strong feet
part.bear: a big head; a short tail
parts.lion: [big|strong] teeth; strong legs; yellow eyes
part.lion: a [long tail|big head]
parts.elephant: [big|gray] ears; [big|strong] legs
part.elephant: a long nose; a [short tail|big head]
parts.monkey: [small|brown] hands; brown eyes
part.monkey: a long tail; a funny face

# Asking others to do things
command: 5 please <!you> {do}; 5 <!you> {do}; <!you> {do} now; 5 let us <!we> {do}
 2 please <!you> [order]; 4 <!you> [order]; 2 please do not <!you> [forbidden]
 let <!d- pet|baby|somebody> {do}; <!you> be [kind|good|nice] to <the pet|animal>
 <!you> be [kind|good|nice] to <d somebody>
order: come [here|home|in|inside|back|with me]; sit [down|here]; stand up
 look [here|up|at me|at us]; go [home|outside|to bed|to sleep]; stop here
 wait [here|for me|for us]; be [quiet|good|kind|nice]; give me <the thing>; help [me|us]
 listen to [me|us|mom|dad]; bring <the thing> here; look at <the animal|rainbow|moon>
 tell me <a story>; show us <the picture|animal>; hold <my thing|pet>; 4 hold my hand
 take <own thing>; pick up <the thing>; watch <the animal>; come and [play|eat|see|sing|look]
 open <own book|bag|box>; take <the thing> home; run [fast|home|to me]
 let me [see|help|sleep|play]
forbidden: run [inside|here|in the house]; cry; jump on <the bed|table|chair>; wake <the baby>
 eat <the flower|leaf|snow>; open <the door|window|box>; stop [now|here]; go [away|home|there]
 be [late|sad|loud]; climb on <the table|chair>; climb on the roof; feed <the zoo>
 throw <the food|book|shoe>; look back; play with <the food>

# And, but
joined: 4 <!pronoun> {brief~} and <!d somebody> {brief~}
 3 <!d somebody> {brief~} and <!d somebody> {brief~}; 2 <!d somebody> {brief~} and i <!i> {brief~}
 2 <!d pet> {brief~} and <!d pet> {brief~}; <!d farm> {brief~} and <!d farm> {brief~}
 <!d bird> {brief~} and <!d flier|bug|frog> {brief~}; 3 [someone] [duo]
 2 <!d somebody> {brief~} and <!d dog> {brief~}; 6 [but]; 3 [beasts] =they [together]
 2 [friends] =they [play.together]
duo: sing~ and dance~; read~ and write~; run~ and jump~; play~ and laugh~; eat~ and drink~
 smile~ and sing~; draw~ and paint~; swim~ and rest~; cook~ and bake~; sit~ and read~
 look~ and listen~; laugh~ and dance~
beasts: 3 <d- pet> and <!d- pet>; the cat and <!the- dog>; the cow and <!the- horse>
 the hen and <!the- goose>; the sheep and <!the- goat>; the duck and <!the- goose>
 the pig and <!the- cow>
together: play~ together; be~ friends; be~ good friends; eat~ together; sleep~ together
 rest~ together; walk~ home together; be~ [hungry|tired|thirsty|happy|wet]; look~ at <whom>
 rest~ in the sun; run~ together; come~ home together; be~ [outside|inside|home]
friends: the [boy|girl|child] and <!the- pet>; [tom|ben|mia|anna] and <!my- pet>
 the farmer and <!the- dog|horse>; [my|his|her] friend and <!the- pet>
play.together: run together; [play|rest] together; be~ good friends; walk home together
 rest in the sun; come home together; be~ [outside|inside|home|tired|happy|wet]
but: 3 <!the- elephant|bear|horse|cow|lion> be~ big but <!the- mouse|ant|bee|kitten> be~ small
 2 <!the- horse|fox|rabbit|dog> be~ fast but <!the- turtle> be~ slow
 <!d- soup|tea|rice> be~ hot but <!d- milk|juice|water> be~ cold
 2 <!d pet> be~ hungry but <!d pet> be~ full
 <!d somebody> be~ happy but [i am|we are|you are] sad
 i am [happy|awake|here] but <!d somebody> be~ [sad|tired|sick|cold]
 <!d somebody> be~ hungry but [i am|we are] full; <!d somebody> be~ sick but [i am|we are] well
 <!d somebody> be~ [sick|tired|sad] but <!d somebody> be~ happy
 [someone] be~ tired but <he> work~
 <!the% ball|hat|box|bag> be~ new but <!the% doll|coat|bike|car> be~ old
 the day is [hot|warm] but the night is [cold|dark]
 <!this- fruit|berry> be~ small but <he> be~ sweet; <!d- book> be~ old but <he> be~ good
 2 <!d- bike|car|truck|coat|hat> be~ old but <he> be~ [good|clean]
 [someone] look~ but cannot see <whom>
 <!g- bird|owl|bee> can fly but <!g- dog|cow|pig|cat> cannot; the sun shines but it is cold
 [someone] want~ to [play|sleep|swim|sing] but <he> cannot
 the wind is cold but [someone] be~ warm; it rains but [someone] be~ [happy|dry|warm]

# Because and when
reason: 5 [someone] [because]; 2 [animal.because]; 5 [someone] [when]; 2 [animal.when]
 2 [someone] be~ [feeling.because]
because: 2 eat~ <o- food> because <he> be~ hungry; 2 drink~ <o- drink> because <he> be~ thirsty
 sleep~ because <he> be~ [tired|sleepy|sick]; rest~ because <he> be~ [tired|sick]
 cry~ because <he> be~ [sad|sick|tired|hungry]; 2 smile~ because <he> be~ happy
 laugh~ because <he> be~ happy; sing~ because <he> be~ happy; dance~ because <he> be~ happy
 stay~ home because <he> be~ sick; sing~ <song> because <he> be~ happy
 go~ to bed because <he> be~ [tired|sleepy|sick]; wear~ <a coat|hat> because it is cold
 stay~ [inside|home] because it [rains|snows]
 go~ home because it [rains|snows|is late|is dark|is cold]; need~ <a coat> because it is cold
 run~ because <he> be~ late; close~ <the window|door> because it [rains|snows]
 open~ <the window|door> because it is [hot|warm]
animal.because: 2 <!d pet|farm> eat~ because <he> be~ hungry
 <!d pet|farm> drink~ because <he> be~ thirsty; <!d animal> sleep~ because <he> be~ tired
 <!d dog|puppy> bark~ because <he> be~ [hungry|happy]
 <!d- baby> cry~ because <he> be~ [hungry|tired|sleepy|sick]
 <!d baby> smile~ because <he> be~ happy; <!d cow|horse|pig> rest~ because it =it be~ hot
 <!d mouse> hide~ because it =it see~ <the cat|owl>; <!d dog> be~ wet because it rains
feeling.because: [tired|sleepy] because it is late; [wet|sad|home] because it rains
 [cold|happy|home] because it snows; happy because <!one family> come~ home
 sad because <he> cannot [play|swim|sleep|come]; sad because <he> cannot find <thing>
 happy because [someone] be~ here
when: 2 wear~ <own coat|hat> when it [rains|snows]; wear~ <own coat|hat> when it is cold
 stay~ [home|inside] when it [rains|snows|is cold]; drink~ <o- water|juice> when it is hot
 drink~ <o- tea|milk> when it is cold
 play~ [outside|in the park|in the garden] when it is [warm|sunny]
 play~ <a game> when it [rains|snows]; 2 read~ <a book|story> when it [rains|snows]
 eat~ when <he> be~ hungry; swim~ when it is [hot|warm]; sleep~ when <he> be~ [tired|sleepy|sick]
 laugh~ when <he> play~; sing~ when <he> be~ happy; fly~ <d kite> when it is windy
 go~ to bed when it is dark; wake~ up when the sun shines
 close~ <the window|door> when it [rains|snows]; be~ happy when [the sun shines|it snows]
 be~ sad when it rains; look~ at the [stars|moon] when it is dark; cry~ when <he> be~ [sad|sick]
 cook~ <o- soup|rice> when it is cold; be~ happy when [someone] come~ home
 open~ <the door> when the bell rings; run~ when the bell rings
animal.when: <!d pet> sleep~ when it [rains|snows|is dark|is hot]
 <!d dog> bark~ when [the bell rings|it is dark]; <!d dog> bark~ when [someone] come~ home
 <!d dog> bark~ when <he> see~ <somebody>
 <!d hen|cow|sheep|goat> go~ inside when it [rains|snows|is dark]
 <!d bird> sing~ when the sun shines; <!d bird> sing~ when it is warm
 <!d owl> fly~ when it is dark; <!d frog> sing~ when it rains
 <!d baby> smile~ when <he> see~ <whom>; <!d baby> cry~ when <he> be~ [hungry|tired]
 <!d mouse> run~ when <he> see~ <the cat|owl>; <!d bear> sleep~ when it [snows|is cold]
 <!d bee> fly~ when it is warm

# Knowing and telling: here live the words that open questions
knows: 3 [someone] [tells] who [who.does]; 3 [someone] [tells] what [what.does]
 3 [someone] [tells] where [place.is]; 2 [someone] [asks] why [why.does]
 2 [someone] [asks] when [when.does]; 2 [someone] [asks] how [how.does]
 1 [someone] [knows.how] how to [skill]; 2 [someone] [sure] what <he> [want|like|need]~
 [someone] [asks] where <he> be~; 2 [someone] [thinks] that [that.is]
 1 this is how [someone] [swim|sing|dance|draw|write|cook|read|play|paint]~
 1 this is where [someone] [play|live|sleep|eat]~; 1 [someone] [wonders] if [that.is]
tells: know~; see~; ask~; tell~ <whom>; do~ not know; want~ to know
asks: ask~; want~ to know; know~; do~ not know
sure: know~; do~ not know
knows.how: know~; learn~; ask~; show~ <whom>; tell~ <whom>
wonders: ask~; want~ to know
thinks: 2 know~; see~; hear~
who.does: is [here|there|at the door|at home|in the kitchen|in the garden|late]
 [sings|plays|comes|calls|laughs|cries]; [likes|has|wants] <a- thing|pet|fruit>
 can [swim|read|sing|help <whom>]
what.does: [someone] [want|like|need|eat|have|see|read]~; <!the animal> eat~
 is in <the holder|cup|bowl>; this is; [someone] can do
place.is: <!the animal|thing> be~; <!d somebody> be~; <!the animal> sleep~
 <!d family> [work|live]~; <!thes clothes|toy> be~
why.does: [someone] [laugh|cry|smile|run|sing]~; <!the dog> bark~; <!the baby> cry~
 [someone] be~ [sad|happy|late|tired]; it [rains|snows|is dark]
when.does: <!the bus|train> come~; [someone] come~ home; [someone] [eat|sleep|play]~
 the sun comes up; it [rains|snows]
how.does: [someone] be~; [someone] feel~; [someone] [sing|dance|swim|play]~
 <!the frog|rabbit> [jump|hop]~; birds fly; many <s fruit|egg|toy|book> [someone] have~
who.is: <!pronoun>; <!the somebody>
that.is: <!the animal> be~ {feels}; [who.is] be~ {feels}; it [rains|snows]
 it is [late|cold|dark|warm]; <!the baby> sleep~; <!the- animal|thing> be~ {looks}
 <!the dog> bark~

# Weather and time
weather: 3 it is [sky] ([today|now|outside|here]); 2 it is [sky] [when.sky]
 it [rains|snows] [when.sky]; it [rains|snows] ([today|now|outside|here])
 it will [rain|snow] [soon|today|tomorrow]
 3 the wind blows [over <the house|hill|lake>|in <the tree>|today|at night]
 the wind is [cold|warm|strong] ([today|now|at night])
 the rain falls on <the house|tree|flower|hat|car>
 the rain is [cold|warm|good for <s flower|tree>]
 the sky is [blue|gray|dark] ([today|now|at night]); the night is [dark|cold|long|quiet]
 the day is [long|short|warm|hot|cold|sunny|rainy]; the [sun|moon] is [round|up|high]
 it is time for [breakfast|lunch|dinner|school|bed]; it is [late|dark]
sky: sunny; rainy; windy; cloudy; hot; cold; warm; dark; wet
when.sky: in winter; in the [summer|morning]; at night; on the [hill|beach|farm|lake]
 in the [forest|garden|barn]

# What things are in general
facts: <!g cow|horse|pig|hen|sheep|goat|duck> live~ on a farm
 <!g bear|fox|owl> live~ in the forest; <!g fish> live~ in the [water|sea]
 <!g zoo> live~ at the zoo; 2 <!g cow|horse|sheep|goat> eat~ <o- grass|hay>
 <!g cow|goat> give~ <o milk>; <!g bee> make~ <o honey>; <!g hen> lay~ <s egg>
 <!g bird> build~ <s nest>; <!g cat|dog|kitten|puppy|rabbit> like~ [to play|children|me]
 2 <!s- animal> be~ animals; <!s fruit> grow~ on trees
 <!s flower> grow~ in the [garden|field|sun]; <!s- fruit|berry> be~ {looks}
 <!s- toy|clothes|flower> can be {looks}; <!s- nut|seed> be~ small
 we eat <s fruit|snack|nut|berry>; <!g mouse> be~ small; <!g elephant> be~ big
 <!g turtle> be~ slow

# Questions
question.who: is [here|there|at the door|in <the house|room>|in the garden]
 [likes|has|wants] <thing|pet|fruit|snack>; can [swim|read|sing|draw|dance|cook]
 [sings|calls|comes|cries|laughs]; is <the somebody>; [reads|writes] <the book|letter>
 helps <whom>
question.what: does <!one animal> eat; do <!s animal> eat
 do [you|we|they] [see|want|like|need|hear|eat|read]
 does <!one somebody|family> [see|want|like|need|read|cook]; is in <the holder|cup|bowl>; is this
 is that; can <the animal> do; is your name
question.where: is <!one thing|animal|somebody>; are <!thes thing|animal>
 do [you|they|we] [live|play|sleep|work|sit]; does <!one animal|family> [live|sleep]
 do <!s animal> [live|sleep]
question.can: [someone] {do}; <!d animal> {can}; <!d baby> [walk|see <whom>]
question.is: it [sky] ([today|outside]); <!one animal|baby|family> {feels}
 <!one- thing|animal> {looks}; <!one animal|thing|family> {where}; this <my thing|pet>
 that <a animal>
question.are: <!you> you {feels}; <!they> they {feels}; <!thes animal> {feels}
 <!thes- thing|animal> {looks}; <!you> you {where}; we late; you ready
question.do: <!you> you {do}; <!they> they {do}; <!s animal> {do}
 you like <s animal|fruit|game|book>; you have <a thing|pet>; you see <animal>
question.does: <!one animal> {do}; <!one somebody|family> {do}
 <!one family> like <s animal|fruit|food>
question.when: do [we|you|they] [eat|sleep|play|sing|come home|go home|go to school]
 does <!one bus|train> come; is [lunch|dinner|breakfast]; will you come
 does <!one family> come home; can [we|i] [play|eat|swim|go home]
question.why: is <!one animal|baby|family> {feels}; are <!you> you {feels}; does <!one dog> bark
 does <!one baby> cry; do birds [sing|fly]; do you [laugh|cry|run|smile]
 does <!one animal> [hide|sleep|run]
question.how: are you ([today|now]); is <!one family|somebody|baby>; do you feel ([today|now])
 old [are you|is <the- animal|baby|house>]; many <s fruit|thing|animal|egg> do you [see|have]
 do [birds fly|fish swim|we play]; big is <the animal|house>; do you make <cake|soup|kite>
)";

}  // namespace glassbox
