// The words and phrases of the first-grade text: what there is, what it looks like, and who does what,
// where and why. The notation is explained in grammar.h. A kind stands for a claim: every noun of kind
// `fruit` can be picked, every noun of kind `ridden` can be ridden.
#pragma once

namespace glassbox {

// singular plural; kinds; looks
inline constexpr const char* kNouns = R"(
boy boys; person child somebody he; little small tall big kind nice funny
girl girls; person child somebody she; little small tall big kind nice funny
child children; person child somebody; little small kind nice funny
man men; person adult somebody he; old young tall kind nice strong
woman women; person adult somebody she; old young tall kind nice strong
teacher teachers; person adult somebody mine role; kind nice new good
doctor doctors; person adult somebody mine role; kind nice new good
farmer farmers; person adult somebody role farming; old kind nice strong
mom; person adult somebody family name mine she
dad; person adult somebody family name mine he
grandma; person adult somebody family name mine she
grandpa; person adult somebody family name mine he farming
brother brothers; person child somebody family kin he; little big
sister sisters; person child somebody family kin she; little big
friend friends; person child somebody kin; good new best
uncle uncles; person adult somebody family kin he farming; tall funny
aunt aunts; person adult somebody family kin she; tall funny
tom; person child somebody name he
ben; person child somebody name he
mia; person child somebody name she
anna; person child somebody name she
baby babies; baby mine; little small
cat cats; pet furry animal mine; black white gray orange small big old fat
dog dogs; pet furry animal mine; black white brown big small old
kitten kittens; pet furry animal mine; black white gray little small
puppy puppies; pet furry animal mine; black white brown little small
rabbit rabbits; pet furry animal mine; white gray brown small soft
bird birds; flier animal singer; red blue yellow brown little small pretty
owl owls; flier animal night; brown white gray old
duck ducks; farm swimmer animal; white brown little fat
goose geese; farm swimmer animal; white gray big
hen hens; farm layer animal; red brown white fat
cow cows; farm grazer animal; black white brown big old
horse horses; farm grazer ridden animal; black white brown big fast strong
sheep sheep; farm grazer animal; white black soft little
goat goats; farm grazer animal; white gray small old
pig pigs; farm animal; pink fat big little
mouse mice; animal; gray brown white small little
fish fish; animal; red orange small little big
frog frogs; animal; green brown small little fat
turtle turtles; animal; green old small slow
bee bees; insect; yellow small busy
butterfly butterflies; insect; blue yellow orange white pretty
ant ants; crawler; black red small busy
bear bears; wild animal; brown black big strong
fox foxes; wild animal; red fast
lion lions; zoo animal; big strong old
elephant elephants; zoo animal; gray big old
monkey monkeys; zoo climber animal; brown small funny
apple apples; fruit food snack; red green yellow sweet big
pear pears; fruit food snack; green yellow sweet
berry berries; berry sweet food; red blue black small sweet
banana bananas; peeled food snack; yellow sweet
carrot carrots; root food snack; orange long fresh
nut nuts; nut food; small brown
egg eggs; egg food; white brown fresh
cake cakes; baked treat food; sweet big round
cookie cookies; baked treat food snack; sweet small round
sandwich sandwiches; made food snack; big
bread; mass baked food; fresh warm
rice; mass cooked food; white hot
soup; mass cooked food; hot warm
cheese; mass food; yellow
honey; mass honey; sweet
milk; mass drink; cold warm white
water; mass drink; cold clean
juice; mass drink; cold sweet
tea; mass tea; hot warm
grass; mass grass; green long wet
hay; mass hay; dry yellow
seed seeds; seed; small
leaf leaves; leaf; green yellow red brown dry big
bone bones; bone; big old
worm worms; worm; pink long
ball balls; toy thrown gift mine thing; red blue green yellow orange big small round new
doll dolls; toy held gift mine thing; pretty small old new
kite kites; toy flown gift mine thing; red blue green yellow big new pretty
drum drums; toy played gift mine thing; red blue big loud
boat boats; boat drawn; red blue white little old small
train trains; vehicle drawn; red blue green long fast old loud
car cars; vehicle driven mine drawn; red blue green white black new old fast
truck trucks; vehicle driven drawn; red blue green big old loud
bus buses; vehicle drawn; yellow red green big
plane planes; plane drawn; white big fast loud
bike bikes; bike mine gift thing; red blue green new old fast
book books; book gift mine thing; red blue new old good
story stories; story; long short good funny new
letter letters; letter; long short
song songs; song; new old pretty funny short
picture; picture gift; big pretty funny small
game games; game; new fun
hat hats; clothes mine thing; red blue green yellow black warm new old big
coat coats; clothes mine thing; red blue green brown warm long new old
dress dresses; clothes hers mine; red blue pink yellow pretty new long
shirt shirts; clothes mine thing; red blue white green new clean old
shoe shoes; pair clothes mine; black brown red new old
sock socks; pair clothes mine; red blue white black warm clean
cup cups; dish mine thing; blue white red small clean
plate; dish; white blue big clean round
bowl; dish; blue red white big round
box boxes; holder closing; big small red blue brown old
basket baskets; holder; big small brown old
bag bags; holder mine closing thing; red blue green big small new
table; furniture; big old long round
chair; furniture seat; red blue small old
bed; furniture mine soft; big small soft warm
lamp; lamp; red yellow small old
door doors; opening closing; red green blue big old
window windows; opening closing; big small clean
pencil pencils; pencil mine thing; red blue green long short new
house houses; house mine; big small old new white red
room; room mine; big small clean
nest nests; nest; small
tree trees; tree; tall old big green
flower flowers; flower; red yellow white pink blue pretty
rainbow; rainbow; pretty
hill; hill; high green
lake; lake; big blue
pond; pond; small little
river; river; long
cloud clouds; cloud; white gray big dark
star stars; star; small pretty
sun; only sun; hot yellow
moon; only moon; round yellow
snow; mass snow; white cold soft
)";

// name: alternative; ...
inline constexpr const char* kPhrases = R"(
sentence: 34 [acts]; 12 [senses]; 12 [copula]; 8 [there]; 14 [modal]; 6 [command]; 8 [joined]
 9 [reason]
 4 [not]; 6 [have]; 4 [knows]; 3 [weather]; 3 [facts]

# Who
who: 9 <!pronoun>; 9 <!* somebody>; 1 [pair]
someone: 3 <!pronoun>; 3 <!d somebody>; 1 <!d somebody|baby>
pair: mom and <!d- dad> =they; grandma and <!d- grandpa> =they; tom and <!d- mia> =they
 anna and <!d- ben> =they; <!my brother|sister|friend> and i =we; <!d- mom|dad> and i =we
 the boy and <!the- girl> =they
beast: 8 <!* animal>; 1 <!* insect|ant>
some.beast: <!d animal>

# Places
outside: in the garden; in the park; in the yard; outside; on <the hill>; by <the lake|pond|river>
 under <the tree>; in the sun; on the beach; in the snow; in the forest
inside: in <the house|room>; at home; in the kitchen; inside; in bed
seat: on <the chair|bed>; on the floor; by <the window|door>; at <the table>; on the grass
 under <the tree>; next to <whom>; in the sun
goal: to school; to the park; to the beach; to the store; to the zoo; to the farm
 to <the lake|pond|river>
 home; to town; up <the hill>; to <my house>; to <the door|window>
with: with <whom>; with <own friend|brother|sister>; with <his> mom; with <his> dad
then: 2 in the morning; at night; 4 every day; today; after school; all day
 2 on [rainy|sunny|windy] days

where.pet: in the garden; in the yard; in <the house|room>; under <the table|bed|chair|tree>
 in <the basket|box>
 on <the chair|bed>; by <the door|window>; on the grass; behind <the door|house|tree>
 next to <whom>
where.farm: on the farm; in the barn; in the field; by the barn; behind the barn
 by <the tree|river>
where.flier: in <the tree|nest>; in the sky; in the garden; on the roof; over <the house|tree|lake>
where.swimmer: on <the pond|lake|river>; by <the pond|lake|river>; on the farm; in the water
where.mouse: under <the bed|table>; in <the house|box>; in the barn; behind <the door|box>
 in the kitchen
where.fish: in <the pond|lake|river>; in the water; in the sea
where.frog: in <the pond>; by <the pond|lake>; in the grass; on <the leaf>
where.turtle: in the water; by <the pond|lake|river>; in the grass; in the sun
where.insect: on <the flower|leaf>; in the garden; over <the flower>; by <the window>
where.ant: on <the leaf|tree|flower>; on the ground; in the grass; under <the leaf>
where.wild: in the forest; behind <the tree>; by <the river|lake>; on <the hill>
where.zoo: at the zoo; under <the tree>
where.somebody: in the garden; in the park; in the yard; by <the lake|pond|river>
 in <the house|room>
 at the store; at school; at home; on <the hill>; on the beach; in the kitchen; by <the window|door>
 on <the bus|train>; in <the car>; at <the table>; here; there; outside
where.baby: in bed; on <the bed>; in <my room>; on the floor; in the kitchen; at home
where.thing: on <the table|chair|bed>; in <the box|bag|basket>; under <the bed|table|chair>
 in <my room>
 on the floor; by <the door>; behind <the door|box>; at school; here; there
where.boat: on <the lake|river|pond>; on the sea; by <the lake|river>
where.vehicle: on the street; by <the house>; in the town; here; there
where.train: by <the house>; behind <the hill>
where.plane: in the sky; over <the house|lake>
where.food: on <the table|plate>; in <the bowl|basket|bag>; in the kitchen
where.fruit: in <the tree|basket|bowl|bag>; under <the tree>
where.berry: in <the bowl|basket>; on the cake
where.drink: in <the cup>; on <the table>
where.tea: in <the cup>; on <the table>
where.honey: on <the bread|table>
where.dish: on <the table>; in the kitchen; in <the box|basket>
where.holder: on <the table|chair>; by <the door|bed>; under <the bed|table>; in <the room|car>
where.letter: on <the table>; in <the box|bag>; under <the door>
where.picture: in <the book|room>; by <the door|window>; in <my book>
where.furniture: in <the room|house>; in the kitchen; in the garden; by <the window|door>
where.bed: in <the room|house>; by <the window>
where.lamp: on <the table>; by <the bed|door>; in <the room>
where.house: on <the hill>; by <the lake|river>; in the town; in the forest; by the sea
 on the street
where.nest: in <the tree>; on the roof; in the barn
where.tree: in the garden; in the park; in the yard; by <the house|river|lake>; on <the hill>
 behind <the house>
where.flower: in the garden; in the field; by <the house|door|pond>; on <the table>
 under <the tree>
where.leaf: on the ground; on <the tree>; in <the book>; in the water
where.seed: in the ground; in <the box|bag|apple>; in my hand
where.bone: under <the tree|table>; in the yard; in the garden
where.worm: in the ground; under <the leaf>; in <the apple>; in the garden
where.cloud: in the sky; over <the hill|house|lake>
where.star: in the sky
where.rainbow: in the sky; over <the hill|house|lake>

# What people do, of their own will
do.somebody: walk [goal]; walk [outside]; run [outside]; run [goal]; 2 go [goal] ([with])
 2 sit [seat]; stand by <the door|window|tree>
 4 eat <food>; 2 eat <food> ([inside]); eat [breakfast|lunch|dinner] ([inside])
 eat [breakfast|lunch|dinner] [with]; eat <fruit> under <the tree>
 2 drink <drink|tea>; 2 drink <drink> from <the cup>; 2 read <book|story|letter>
 read <book> [seat]; read <story> to <somebody|baby>
 write <letter|story> ; write <letter> to <somebody>; write with <pencil>
 2 draw <animal|drawn|flower|tree|house>; draw with <own pencil>
 paint <animal|drawn|house|flower|picture>; paint <the door|chair|table|box>; sing; sing <song>
 sing [outside]; sing to <baby>
 dance; dance [outside]; dance [with]; swim; swim in <the lake|river|pond>; swim in the sea
 help <somebody>; 2 help <whom>; help <whom> [inside]
 make <a cake|sandwich|soup|picture>; make <kite|doll|hat>; bake <cake|cookie|bread>
 cook <soup|rice|egg>; cook [lunch|dinner] for <whom>
 wash <his> hands; wash <his> face; wash <dish|clothes|fruit|pet>
 clean <the room|house|table|window>; clean the kitchen
 brush <his> teeth; open <the opening|holder>; close <the closing>
 2 carry <holder|thing|furniture>; carry <thing> [goal]; bring <thing|fruit> to <somebody>
 bring <whom> <food>; give <whom> <gift|treat>; give <gift|treat> to <somebody>; find <thing|pet>
 2 find <thing> {@where}; look for <thing|pet>
 look at <the picture|animal|star|moon|flower>; look at <the animal|star|moon|cloud>
 look out of <the window>; ride <own bike>; ride <own bike> [goal]; 2 ride <the horse>
 ride on <the bus|train>
 2 feed <pet|farm|swimmer>; feed <baby>; feed <the fish>; hug <pet|somebody|doll>
 2 plant <flower|tree>; plant <flower|tree> [outside]; plant <seed> in the garden
 pick <fruit|flower|berry>; pick <flower> for <somebody>; throw <the ball> to <somebody|pet>
 catch <the ball>; kick <the ball>; wear <clothes>; 2 wear <own clothes>; put on <own clothes>
 2 put <thing|food|flower> on <the table|chair>; put <thing|fruit|food> in <the box|bag|basket>
 show <whom> <thing|picture|pet>; show <thing|picture> to <somebody>
 tell <whom> <story>; tell <somebody> <story>; wait for <the bus|train>; wait for <whom>
 wait at <the door>; play; play [outside]; play [inside]; 2 play <game> ([with])
 2 play with <toy|pet>; play with <whom>; watch <the animal|star|rainbow|cloud>
 watch <bird|swimmer|insect> {@where}; listen to <song|story>; listen to <the singer|owl>
 buy <clothes|food|toy|book>
 buy <food|toy> at the store; sleep; sleep [inside]; go to bed; rest [seat]; work in the garden
 wake up in the morning; come home; come home after school; laugh
 build <house> with <own friend>; stay at home; stay inside; call <somebody>
 call <the dog|cat|puppy>
do.child: go to school; go to school by bus; learn to [skill]; 2 play with <toy>; play [outside]
 fly <kite>; fly <kite> [outside]; 2 jump; jump into the water; jump on <the bed>; run
 run [outside]
 climb <tree|hill>; hop [outside]; hide behind <the tree|door|house>; hide under <the bed|table>
 count <animal|star|fruit>; count to ten; play <drum>
 kick <ball> [outside]; throw <ball>; play in the mud; roll in the snow; sing at school
 read at school; draw at school; ask <the teacher|mom|dad>
do.adult: 2 drive <driven>; drive <driven> [goal]; drive to work; cook [breakfast|lunch|dinner]
 work; work all day; read <story> to <the child|boy|girl>
do.farming: work in the field; work on the farm; feed <the farm>; drive <the truck>; plant <seed>
 carry <hay> to <the horse|cow|sheep>; wash <the horse|pig>; open the barn
do.teacher: read <book|story> to <whom>; help <child|boy|girl>; ask <whom>
do.doctor: help <the baby|child|man|woman>; look at <the baby>
do.baby: sleep; sleep in <own bed>; cry; cry at night; smile; smile at <somebody>; smile at <whom>
 drink <milk>; drink <milk> from <the cup>; laugh; play with <toy>; eat <banana|soup|pear>
 play on the floor; sit on <the bed>; look at <the cat|dog|lamp|ball>; wake up at night
 sleep all day
skill: swim; read; write; ride <bike>; sing; draw; bake <cake|cookie|bread>; cook; paint; dance
 fly <kite>; play <drum>; count

# What animals do
do.animal: look for food
do.pet: sleep; sleep on <the bed|chair>; sleep under <the table|bed|chair|tree>
 sleep in <the basket|box>; sleep on the floor; sleep all day; sit by <the door|window|tree>
 run to <somebody>; play
 2 play with <ball|doll|sock|shoe>; play [outside]; hide under <the bed|table|chair>
 hide behind <the door|box|tree|chair>; follow <somebody>; follow <whom> [goal]
 wait at <the door>; rest in the sun
 sleep next to <somebody|baby>; drink <water>; eat from <the bowl|plate>; run after <ball>
 look out of <the window>; jump over <the box|basket>; run [outside]; play with <whom>
 sit next to <whom>; jump
do.cat: chase <mouse>; catch <mouse>; drink <milk>; climb <tree>; wash its face; watch <bird|fish>
 look at <bird|fish>; sit on <the chair|bed>; jump on <the table|bed|chair>; eat <fish>
do.kitten: drink <milk>; climb <tree>; play with <leaf>; watch <bird|fish>; sit on <the chair|bed>
 jump on <the bed|chair>; chase <butterfly|ball>
do.dog: 3 bark; 2 bark at <cat|car|truck|mouse>; bark at the moon; bark at <somebody>
 dig in the garden; dig under <the tree>; 2 find <bone>; carry <bone>; carry <ball|shoe>
 2 hide <bone>; catch <ball>; swim in <the lake|river>
 bring <ball|shoe> to <somebody>; chase <cat|duck|ball|goose>; bark at night; 2 eat <bone>
do.puppy: 2 bark; bark at <ball|cat|duck>; dig in the garden; chase <ball|butterfly>
 carry <shoe|sock|ball>; find <bone>
do.rabbit: hop [outside]; hop; hop over <flower>; 2 eat <carrot|grass|leaf>; dig in the ground
 hide in the grass
do.flier: 3 fly; fly over <the house|tree|hill|lake|river>; fly to <tree|nest>; sit in <tree>
 sit on the roof; sleep in <tree|nest>; drink from <the pond|lake|river>; fly [away|home]
do.bird: 3 sing; sing in <tree>; sing in the morning; eat <berry|seed|worm>; 3 build <nest>
 build <nest> in <tree>; feed <his> babies; sing [outside]; find <worm|seed|berry>
do.owl: fly at night; sleep in the day; catch <mouse>; look at <the moon|star>; call at night
do.swimmer: swim; swim on <the pond|lake|river>; walk to <the pond|lake|river>
 eat <grass|bread|seed>; sleep by <the pond|lake|river>; fly over <the lake|river|house>
 jump into the water
do.hen: 2 eat <s worm|seed>; 2 lay <egg>; lay eggs every day; sit on <his> eggs; eat <seed|worm>
 run in the yard; sleep in <nest>; look for <worm|seed>
do.farm: 2 sleep in the barn; stand by <the tree|river>; stand by the barn; rest in the sun
 rest under <the tree>; go home; eat; drink <water>; walk to the barn; live on the farm
 come to <the farmer>; follow <the farmer|grandpa>
do.grazer: 3 eat <grass|hay>; stand in the field; walk [up|down] <the hill>
 eat <grass> in the field; walk in the field; drink from <the river|pond>
do.horse: run in the field; run fast; jump over <the river>; eat <apple|carrot>
 carry <the boy|girl|farmer>; run over <the hill>
do.cow: give <milk>; give us <milk>
do.sheep: follow <the dog>; run from <the dog>
do.goat: climb <hill>; eat <leaf|flower|hat|apple>; jump over <the box|basket>
do.pig: roll in the mud; 2 eat <apple|carrot|bread>; dig in the mud; sleep in the mud
 run in the yard
do.mouse: eat <cheese|nut|seed|bread>; hide in <the box|house|shoe>; run from <the cat|owl>
 run under <the bed|table|chair>; sleep in <the nest|shoe|box>; find <cheese|nut|bread>
 carry <nut|seed>; run
do.fish: 3 swim; swim in <the pond|lake|river>; swim in the sea; jump out of the water; eat <worm>
 hide under <leaf>; swim fast; swim to <the boat>; swim [away|down]
do.frog: jump; jump into <the pond|lake>; sit on <leaf>; hop; hop in the grass; eat <ant|worm>
 sit by <the pond|lake>; swim; swim in <the pond|lake>; jump over <leaf>; sing at night
do.turtle: walk to <the pond|lake|river>; swim in <the pond|lake>; eat <leaf|grass|berry>
 hide <his> head; sit in the sun; walk slowly; sleep by <the pond|river>
do.insect: fly; 2 fly to <flower>; sit on <flower|leaf>; fly over <flower>; fly [outside]
 fly from flower to flower
do.bee: make <honey>; work all day
do.butterfly: 3 sit on [my|your|his|her] hand; fly away; sit on <hat>; rest on <flower|leaf>
do.ant: carry <leaf|seed>; carry <bread> home; walk up <the tree>; work all day
 live in the ground; find <bread|cake|seed>; eat <cookie|cake|leaf>; walk on <leaf>
do.wild: run in the forest; walk in the forest; hide behind <the tree>
 drink from <the river|lake>; live in the forest; sleep in the forest; come out at night
 walk to <the river|lake>
do.bear: 2 eat <honey|berry|fish|nut>; sleep all winter; climb <tree>; swim in <the river|lake>
 catch <fish>; look for <honey|berry>
do.fox: chase <rabbit|mouse|hen|duck|goose>; sleep in the ground; run over <the hill>
 run from <the dog>; look at <the hen|goose|moon>
do.zoo: live at the zoo; look at <whom>; look at <somebody>; drink <water>; sleep at the zoo
 rest under <tree>; walk to <the tree>; look for food
do.lion: sleep in the sun; run fast; sleep all day; sleep under <the tree>; rest in the sun
do.elephant: eat <leaf|grass|banana|apple>; play in the water; play in the mud
 carry <the boy|girl|tree>
do.monkey: 2 eat <banana|nut|fruit>; climb <tree>; jump from tree to tree; sit in <tree>
 play in <tree>; throw <nut|banana>

# What things do
do.ball: roll; roll down <the hill>; roll under <the bed|table|chair>; fall into the water
do.kite: fly; fly in the wind; fly over <the house|tree|hill>
do.train: stop here; come at night; go to town; go fast
do.bus: stop here; stop at school; go to town; stop by <the house>; go to school
 come in the morning
do.car: stop; stop by <the house>; go fast; go down <the hill>
do.truck: stop; go to town; stop at the farm; carry <hay|box>; go up <the hill>
do.plane: fly; fly over <the house|hill|lake>; fly in the sky; fly fast
do.boat: go down <the river>; go over <the lake>
do.leaf: fall; fall to the ground; fall from <the tree>; fall on <the house|hat>
 fall into <the pond|river|lake>
do.flower: grow; grow in the garden; grow in the field; grow in the sun
 grow by <the door|house|pond>
do.tree: grow; grow in the garden; grow by <the house|river|lake>; grow on <the hill>
do.fruit: grow on <tree>; fall from <tree>; fall to the ground
do.star: shine; shine at night; shine in the sky; shine over <the house|hill|lake>
do.cloud: hide the sun; hide the moon; come over <the hill>; go over <the hill|house>
do.lamp: shine; shine at night
do.sun: shine; shine in the sky; shine on <the house|flower|lake|tree|pond>; shine all day
 come up; go down; shine today; come out
do.moon: shine; shine at night; shine on <the house|lake|hill>; come out at night; come up
 look at us
do.snow: fall; fall on <the house|tree|hill>; fall at night; fall in winter
do.door: open; close
do.river: run to the sea; run by <the house>

# Plain statements
acts: 5 [someone] [brief]; 2 [someone] [brief] [then]; 3 <!s animal> {does1}
 3 <!d animal> {does1}; 10 [who] {does}; 7 [beast] {does}; 1 <!* baby> {does}; 2 [thing.acts]
 2 [who] [often] {does}; 1 [beast] [often] {does}
thing.acts: 6 <!* ball|kite|train|bus|car|truck|plane|boat> {does}
 6 <!* leaf|flower|tree|fruit|cloud> {does}
 <!d door|lamp> {does}; 2 <!the sun|moon|snow|river> {does}; <!thes star> {does}
often: always; often; never; sometimes

# Senses, likes and needs
senses: 6 [someone] see~ [seen]
 8 [someone] see~ <animal|insect|thing|vehicle|flower|ant|boat|worm> {@where}
 2 [someone] see~ <whom>; 2 [someone] see~ <somebody> {@where}
 4 [someone] hear~ [sound]; 5 [someone] like~ [liked]; 2 [someone] love~ [loved]
 3 [someone] want~ [wanted]; 2 [someone] need~ [needed]; 2 [beast.sees]
 1 <!d pet> like~ <whom>; 1 <!d pet> love~ <somebody>; 1 <!d pet> want~ [petwish]
 2 [someone] feel~ [feeling]; 1 [someone] have~ fun [outside]
 1 [someone] look~ {feels}; 1 <!d animal|baby> look~ {feels}
beast.sees: 2 <!d pet> see~ <mouse|bird|fish|frog|butterfly|moon>
 <!d farm> see~ <the farmer|grandpa|dog|fox>; <!d mouse> see~ <the cat|owl|cheese>
 <!d wild> see~ <the moon|river|rabbit|fish>; <!d zoo> see~ <whom>; <!d cat|owl> see~ <mouse>
seen: 3 <animal>; <insect|ant|berry|nut>; <thing|vehicle|plane|boat>
 <rainbow|star|moon|cloud|sun>; <flower|tree|house|lake|hill|river>; <fruit|food|dish>
sound: <pet|bird|hen|owl|bee|cow>; <bird|owl|dog> {@where}; <song|drum|bus|train|plane>; the rain
 the rain on the roof; the wind; the wind in <the tree>; the school bell
 <somebody>; <the baby>
liked: 3 <s animal|insect>; 2 <s fruit|snack|toy|flower|book|story|game|boat|train>; <food>
 <this book|story|song|picture|game|hat|toy>; the snow; the summer; winter; the rain
 <own school|house|room|teacher>; <drink>; <honey|tea>
loved: <family>; <whom>; <pet>; <own baby|dog|cat|doll|friend>; <s pet|story|song|game>; <honey>
 <cake>
wanted: 2 <a toy|gift|pet>; <a snack|treat>; <food>; <drink>; <the toy|book|hat>
 more <drink|cooked|bread>; one more <the- cookie>
needed: <a holder|pencil|cup|plate|bowl|lamp>; <a clothes|chair|bed>; <own clothes|bag|pencil>
 <whom>; <water>; <a- friend>; more [time|water|help]
petwish: <food|drink>; <own bone|ball>; some food; to [play|sleep|eat]; to play with <whom>
feeling: happy; sad; sick; good; cold; warm; hot; tired; the [sun|wind|rain|snow]
 very [happy|sad|sick|good|cold|warm|tired]

# To be
copula: 5 [someone] be~ {feels}; 2 [someone] be~ very {feels}
 2 [someone] be~ {feels} [today|now|in the morning|after school]; 2 [someone] be~ {state}
 4 <!d animal> be~ {feels}; 1 <!d animal> be~ very {feels}; 1 <!d animal|baby> be~ {state}
 1 <!d baby> be~ {feels}
 3 [someone] be~ {where}; 5 <!d animal|insect|ant|baby> be~ {where}
 4 <!d thing|vehicle|furniture|dish|holder> be~ {where}
 2 <!d fruit|food|drink|flower|letter|picture|lamp|house|nest|tree|cloud|star> be~ {where}
 1 <!d thing|vehicle> be~ [here|there]
 5 <!d- animal|insect|ant> be~ {looks}; 5 <!d- thing|vehicle|furniture|dish|holder> be~ {looks}
 4 <!d- fruit|food|drink|flower|tree|house|lake|pond|sun|moon|snow|star|cloud> be~ {looks}
 3 <!d% animal|thing|vehicle|flower> be~ {quality}
 2 <!d- animal|vehicle|thing|house> be~ very {quality}
 2 <!the- animal|thing|flower> {where} be~ {looks}; 3 [role]
 2 <!d thing|food|letter|picture|flower> be~ {from}; 1 <!d door|window|box|bag> be~ open
 1 <!d cup|bowl|box|bag|basket> be~ [full|empty]
 1 <!the holder> be~ full of <s fruit|toy|book|egg|nut|berry|leaf>; 1 <!d somebody> be~ [with]
 1 <!d pet> be~ <own friend>
from.thing: from <family>; for <whom>; for <somebody>; from <somebody>
from.food: for <whom>; for <somebody>; from <the store|family>
from.letter: from <family>; for <whom>; from <somebody>
from.picture: for <whom>; for <somebody>; from <family>; of <animal|flower|house>
from.flower: for <whom>; for <somebody>; from <family>
role: 2 <!the family> be~ <as role>; <!pronoun> be~ <as role>; <!the friend> be~ <as boy|girl>
 2 it =it be~ <a animal>; it =it be~ <a thing|toy|flower|fruit|vehicle>
 this =it be~ <my thing|pet|family|room|house>
 this =it be~ <a thing|toy|flower|fruit|vehicle|dish>
 that =it be~ <a animal|vehicle|tree|hill|house>; these are <s fruit|toy|flower|clothes>
 those are <s- animal|vehicle|star>; these are my <s clothes|toy|book>
feels.person: happy; sad; tired; sleepy; hungry; thirsty; sick; busy; cold; warm; good; kind
feels.baby: happy; sad; tired; sleepy; hungry; sick
feels.animal: hungry; thirsty; tired; happy; wet
feels.pet: sleepy; dirty; clean; sad; sick
feels.farm: dirty; sleepy
state.person: ready; late; here; safe; home; awake; ready for school
 ready for [breakfast|lunch|dinner]; good at [games|school]; late for school
state.animal: safe; awake; quiet
state.baby: awake; safe; quiet; here

# There and here
there: 6 there =it be~ <a animal|insect|thing|vehicle|flower|boat|somebody> {@where}
 5 there =they be~ <n animal|insect|thing|vehicle|flower|fruit|star|boat|worm|bone|somebody> {@where}
 2 there =it be~ <a fruit|dish|furniture|letter|tree|house|nest|worm|bone> {@where}
 2 there is some <food|drink> {@where}; 1 here =it be~ <my thing|pet|family>
 1 here =it be~ <a thing|snack|dish|pencil> for <whom>
 1 here are <n fruit|snack|toy|flower> for <whom>
 1 here =it come~ <the bus|train|teacher|farmer|dog>
 1 there =it be~ <a cloud|rainbow|star|plane> in the sky; 1 there is snow on <the house|tree|hill>

# Can, will, want, like
modal: 4 [someone] can {do}; 3 <!g animal> can {can}; 2 <!d animal> can {can}
 3 [someone] want~ to {do}; 3 [someone] like~ to {do}; 2 <!* animal> like~ to {do}
 2 [someone] will {do} ([soon|today|tomorrow])
 1 <!d animal> want~ to {do}; 1 [someone] love~ to {do}; 1 [someone] must {must}
 1 [someone] can help <whom>; 1 [someone] will be [late|home soon|here soon|back soon]
 1 [someone] learn~ to [skill]
can.pet: run fast; run; jump; swim
can.cat: climb <tree>; jump; see at night; catch <mouse>
can.dog: bark; swim; find <bone|ball>; catch <ball>; help <whom>
can.rabbit: hop; dig; jump high; hop fast
can.flier: fly; fly high; sing
can.bird: 2 fly; sing; sing well; build <nest>
can.owl: see at night; fly; fly at night
can.swimmer: swim; fly; swim well
can.hen: lay <egg>; run
can.grazer: walk; run; eat <grass>
can.horse: run fast; jump; jump high; carry <somebody>; run
can.fish: 2 swim; swim fast; swim well
can.frog: 2 jump; jump high; swim; hop
can.turtle: swim; swim well; walk slowly; live long
can.mouse: run fast; hide well; hide in <the shoe|box>
can.bear: climb <tree>; swim; catch <fish>; run fast
can.fox: run fast; hide well; dig
can.lion: run fast; see at night
can.elephant: carry <tree>; swim; drink <water>
can.monkey: climb <tree>; climb; climb well; jump; throw <nut>
must.person: go home; go to bed; go to school; wash <his> hands; brush <his> teeth; wait
 wait for <whom>; stop; help <whom>; clean <the room>; be [quiet|good|kind|home soon]; eat; sleep
 wake up now
 work today; stay at home; feed <the pet>; read <the book>; write <letter>; go now
 find <own shoe|book|bag>
cannot.pet: read; write; drive; fly; read <book>; open <the door|window>; ride <bike>
cannot.farm: read; read <book>; write; climb <tree>; ride <bike>; drive <driven>; sing
cannot.fish: walk; run; sing; fly; climb <tree>; hop; read; bark
cannot.turtle: fly; run; run fast; bark; jump; climb <tree>; sing
cannot.frog: read; fly; bark; write; drive <car>
cannot.mouse: fly; bark; drive; open <the door|box>
cannot.zoo: fly; read; write; drive; read <book>
cannot.wild: fly; drive; read; write; read <book>
cannot.baby: walk; read; run; write; swim; read <book>; ride <bike>; climb <tree>; drive; cook
 open <the door|box>
cannot.thing: walk; sing; eat; sleep; fly; read; hear <whom>; see <whom>
not: 3 <!g animal> cannot {cannot}; 1 <!the animal> cannot {cannot}; 2 <!d baby> cannot {cannot}
 2 <!d- doll|book|hat|shoe> cannot {cannot}; 4 [someone] do~ not {avoid}
 2 [someone] do~ not like [disliked]; 4 <!d animal> do~ not {avoid}
 2 [someone] be~ not {feels}; 1 <!d animal> be~ not {feels}
 2 <!d thing|animal|somebody> be~ not {where}; 1 [someone] cannot [find|see|open] <the holder>
 2 [someone] cannot find <own thing>; 1 [someone] cannot see <thing|animal>
 1 [someone] do~ not [have|want|need] <a thing|toy|holder>; 1 [someone] do~ not see <whom>
 1 it =it be~ not <my thing>; 1 <!d thing> be~ not <own thing>
avoid.person: want to [sleep|sing|dance|cry|go home|go to bed|stop]; cry; sleep; know; know <whom>
 run inside; wake up; eat <egg|soup|nut|fish>; play inside
 like to [wait|run|swim|sing|dance|clean|work]; work today; go to school today
 hear <whom>; drink <tea|milk>; jump on <the bed|chair>; live here; feel [well|good|sick]
 look at <whom>; need help; wear <clothes>
avoid.animal: like the [rain|snow|cold|wind]; sleep; sleep at night; want to sleep; hear <whom>
 see <whom>; wake up; eat <cake|cookie|cheese>; run from <whom>; know <whom>
avoid.pet: like <the cake|box|rabbit>; come home; eat <fruit>; sleep on <the bed>
 want to come [in|here|home]
disliked: <s insect|ant|nut|egg|berry>; the [rain|cold|wind|snow]; <food>
 <this food|hat|dress|shirt|game|song>; to [wait|run|sing|cry|clean]; <tea|honey>

# To have
have: 4 [someone] have~ <a thing|toy|pet|gift>
 3 [someone] have~ <n thing|toy|pet|book|clothes|friend|brother|sister>
 2 [someone] have~ [own.body]; 4 <!d animal> have~ {parts}; 3 <!g animal> have~ {parts}
 1 [someone] have~ <food> for [breakfast|lunch|dinner]
 1 <!d house> have~ <a- door|window>; 1 <!d house> have~ <n door|window|room>
 1 <!d tree> have~ <s leaf>; 1 <!d bike|car|truck|bus> have~ [wheels]
 1 <!d pet> have~ <a thing|bone|ball|bed|bowl>
 1 [someone] have~ [no time|time to play|a good day|a bad day|a bad cold|work to do|school today]
wheels: [big|new|red|black|fast] wheels
own.body: two [hands|eyes|ears|feet|legs]; [brown|blue|green] eyes; [black|brown|long|short] hair
 [red|yellow|gray|brown] hair; cold [hands|feet|ears]; a [small|big|red|cold] nose
 [big|small|warm|cold|clean|dirty] hands; a [warm|small|round] face
parts.pet: [long|short|soft|big|small] ears; a [long|short|soft] tail; four legs; four feet
 soft hair; a [wet|small|pink|black] nose; [small|white|big] teeth; [big|green|brown] eyes
parts.cat: green eyes; soft feet
parts.flier: two wings; [big|small|long] wings; two legs; [big|black|round] eyes
parts.swimmer: two wings; [big|white] wings; [orange|big] feet; two legs
parts.hen: two wings; two legs; small eyes
parts.grazer: four legs; a [long|short] tail; [big|soft|brown] eyes; [big|white] teeth
 [strong|long] legs; soft ears
parts.pig: a [short|small] tail; four legs; [pink|big] ears; a [big|wet|dirty] nose
parts.mouse: a [long|pink] tail; [small|pink|round] ears; small feet; a pink nose
parts.fish: a [red|big|pretty] tail; [big|round] eyes; no legs; no feet
parts.frog: [long|strong|green] legs; [big|round] eyes; wet feet
parts.turtle: [short|strong] legs; small eyes; a [small|short] tail
parts.wild: [strong|short] legs; [big|strong|white] teeth; a [black|wet] nose; [round|small] ears
parts.fox: a [red|long|soft] tail
parts.lion: [big|strong] teeth; strong legs; a long tail; yellow eyes
parts.elephant: a long nose; [big|gray] ears; [big|strong] legs; a short tail
parts.monkey: a long tail; [small|brown] hands; brown eyes; a funny face

# Asking others to do things
command: 3 please <!you> {do}; 4 <!you> {do}; 1 <!you> {do} now; 4 let us <!we> {do}
 2 please <!you> [order]; 3 <!you> [order]; 2 please do not [forbidden]
 1 let <!d- pet|baby|somebody> {do}; 1 <!you> be [kind|good|nice] to <the pet|animal|somebody>
order: come [here|home|in|inside|back|with me]; sit [down|here]; stand up
 look [here|up|at me|at us]; go [home|outside|to bed|to sleep]; stop here
 wait [here|for me|for us]; be [quiet|good|kind|nice]; give me <the thing>; help [me|us]
 listen to [me|us|mom|dad]
 bring <the thing> here; look at <the animal|rainbow|moon>; tell me <a story>
 show us <the picture|animal>; hold <my thing|pet>; 4 hold my hand; take <own thing>
 pick up <the thing|pencil>; watch <the animal>; come and [play|eat|see|sing|look]
 open <own book|bag|box>
 take <the thing> home; run [fast|home|to me]; let me [see|help|sleep]
forbidden: run [inside|here|in the house]; cry; jump on <the bed|table|chair>; wake <the baby>
 eat <the flower|leaf|snow>; open <the door|window|box>; stop [now|here]; go [away|home|there]
 be [late|sad|loud]; play with <the food>
 climb on <the table|chair|roof>; feed <the zoo>; throw <food|book|shoe>; bark

# And, but
joined: 5 [someone] [brief] and [someone] [brief]; 4 <!d animal> {does1} and <!d animal> {does1}
 2 [someone] [brief] and [brief]
 1 <!d somebody> [brief] and <!d dog> [dogbrief]; 5 [but]; 3 [beasts] =they [together]
brief: sing~; dance~; play~; read~; sleep~; run~; laugh~; cook~; swim~; jump~; eat~; draw~; write~
 smile~; work~; rest~; read~ <book>; play~ <game>
 eat~ <snack>; drink~ <drink>; bake~ <cake>; sing~ <song>; draw~ <animal>
dogbrief: sleep~; bark~; run~; play~; jump~; eat~; dig~
does1.pet: sleep~; run~; jump~; eat~; play~
does1.dog: bark~; dig~
does1.flier: sing~; fly~
does1.farm: eat~; rest~; sleep~
does1.frog: jump~; hop~; swim~
does1.fish: swim~
does1.mouse: run~; hide~
does1.zoo: sleep~; eat~; rest~
does1.wild: run~; hide~; sleep~
beasts: <d- pet> and <!d- pet>; the cat and <!the- dog>; the cow and <!the- horse>
 the hen and <!the- goose>; the sheep and <!the- goat>; the duck and <!the- goose>
 the pig and <!the- cow>; <d- child|boy|girl|family|tom|anna> and <!d- pet>
 the farmer and <!the- dog|horse>; my friend and <!my- pet>
together: play~ together; be~ friends; be~ good friends; eat~ together; sleep~ together
 rest~ together; walk~ home together; be~ [hungry|tired|thirsty|happy|wet]; look~ at <whom>
 rest~ in the sun; run~ together; come~ home together
but: 2 <!the- elephant|bear|horse|cow|lion> be~ big but <!the- mouse|ant|bee|kitten> be~ small
 <!the- horse|fox|rabbit|dog> be~ fast but <!the- turtle> be~ slow
 <!d- soup|tea|rice> be~ hot but <!d- milk|juice|water> be~ cold
 2 <!d pet> be~ hungry but <!d animal> be~ full; [someone] be~ happy but [someone] be~ sad
 [someone] be~ tired but <he> work~; 2 [someone] be~ hungry but [someone] be~ full
 2 [someone] be~ sick but [someone] be~ well
 <!the% ball|hat|box|bag> be~ new but <!the% doll|coat|bike|car> be~ old
 the day is [hot|warm] but the night is [cold|dark]
 <!this- fruit|berry> be~ small but <he> be~ sweet; <!d- book> be~ old but <he> be~ good
 2 <!d- bike|car|truck|coat|hat> be~ old but <he> be~ [good|clean]
 2 [someone] look~ but cannot see <whom>
 <!g- bird|owl|bee> can fly but <!g- dog|cow|pig|cat> cannot; the sun shines but it is cold
 [someone] want~ to [play|sleep|swim|sing] but <he> cannot
 the wind is cold but [someone] be~ warm; it rains but [someone] be~ [happy|dry|warm]

# Because and when
reason: 5 [someone] [because]; 2 [animal.because]; 5 [someone] [when]; 2 [animal.when]
 2 [someone] be~ [feeling.because]
because: 2 eat~ <food> because <he> be~ hungry; 2 drink~ <drink> because <he> be~ thirsty
 sleep~ because <he> be~ [tired|sleepy|sick]; rest~ because <he> be~ [tired|sick]
 cry~ because <he> be~ [sad|sick|tired|hungry]
 2 smile~ because <he> be~ happy; laugh~ because <he> be~ happy; sing~ because <he> be~ happy
 dance~ because <he> be~ happy; run~ because <he> be~ late; stay~ home because <he> be~ sick
 sing~ <song> because <he> be~ happy
 go~ to bed because <he> be~ [tired|sleepy|sick]; wear~ <coat|hat> because it is cold
 stay~ [inside|home] because it [rains|snows]
 go~ home because it [rains|snows|is late|is dark|is cold]; need~ <coat> because it is cold
 run~ because <he> be~ late for school; wash~ <his> hands because <he> eat~ soon
 close~ <window|door> because it [rains|snows]; open~ <window|door> because it is [hot|warm]
 love~ <family|pet> because <he> be~ kind
animal.because: 2 <!d pet|farm> eat~ because <he> be~ hungry
 <!d pet|farm> drink~ because <he> be~ thirsty; <!d animal> sleep~ because <he> be~ tired
 <!d dog|puppy> bark~ because <he> be~ [hungry|happy]
 <!d- baby> cry~ because <he> be~ [hungry|tired|sleepy|sick]
 <!d baby> smile~ because <he> be~ happy; <!d cow|horse|pig> rest~ because it is hot
 <!d mouse> hide~ because <he> see~ <the cat|owl>; <!d dog> be~ wet because it rains
feeling.because: [tired|sleepy] because it is late; [wet|sad|home] because it rains
 [cold|happy|home] because it snows; happy because <family> =she come~ home
 sad because <he> cannot [play|swim|sleep|come]; sad because <he> cannot find <thing>
 happy because [someone] be~ here
when: 2 wear~ <own coat|hat> when it [rains|snows]; wear~ <own coat|hat> when it is cold
 stay~ [home|inside] when it [rains|snows|is cold]
 drink~ <water|juice> when it is hot; drink~ <tea|milk> when it is cold
 play~ [outside|in the park|in the garden] when it is [warm|sunny]
 play~ <game> when it [rains|snows]; 2 read~ <book|story> when it [rains|snows]
 eat~ when <he> be~ hungry; swim~ when it is [hot|warm]
 sleep~ when <he> be~ [tired|sleepy|sick]; laugh~ when <he> play~; sing~ when <he> be~ happy
 fly~ <kite> when it is windy
 go~ to bed when it is dark; wake~ up when the sun shines
 close~ <window|door> when it [rains|snows]; be~ happy when [the sun shines|it snows]
 be~ sad when it rains; look~ at <star|moon> when it is dark; cry~ when <he> be~ [sad|sick]
 cook~ <soup|rice> when it is cold
 be~ happy when [someone] come~ home; open~ <door> when the bell rings; run~ when the bell rings
animal.when: <!d pet> sleep~ when it [rains|snows|is dark|is hot]
 <!d dog> bark~ when [the bell rings|it is dark]; <!d dog> bark~ when [someone] come~ home
 <!d dog> bark~ when <he> see~ <somebody>
 <!d hen|cow|sheep|goat> go~ inside when it [rains|snows|is dark]
 <!d bird> sing~ when the sun shines
 <!d bird> sing~ when it is warm; <!d owl> fly~ when it is dark; <!d frog> sing~ when it rains
 <!d baby> smile~ when <he> see~ <whom>
 <!d baby> cry~ when <he> be~ [hungry|tired]; <!d mouse> run~ when <he> see~ <cat|owl>
 <!d bear> sleep~ when it [snows|is cold]; <!d bee> fly~ when it is warm

# Knowing and telling: here live the words that open questions
knows: 3 [someone] [tells] who [who.does]; 3 [someone] [tells] what [what.does]
 3 [someone] [tells] where [where.is]; 2 [someone] [tells] why [why.does]
 2 [someone] [tells] when [when.does]; 2 [someone] [tells] how [how.does]
 1 [someone] [tells] how to [skill]; 2 [someone] [thinks] that [that.is]
 1 this is how [someone] [brief]; 1 this is where [someone] [play|live|sleep|eat|work]~
 1 [someone] [asks] if [that.is]
tells: know~; see~; ask~; tell~ <whom>; do~ not know; want~ to know
asks: ask~; want~ to know
thinks: know~; see~; hear~
who.does: is [here|there|at the door|at home|in the kitchen|in the garden|late]
 [sings|plays|comes|calls|laughs|cries]; [likes|has|wants] <thing|pet|fruit>
 can [swim|read|sing|help <whom>]
what.does: [someone] [want|like|need|eat|have|see|read]~; <!the animal> eat~
 is in <the holder|cup|bowl>; this is; [someone] can do
where.is: <!the animal|thing> be~; <!d somebody> be~; <!the animal> sleep~
 <!d family> [work|live]~; [someone] live~; <!thes clothes|toy> be~
why.does: [someone] [laugh|cry|smile|run|sing]~; <!the dog> bark~; <!the baby> cry~
 [someone] be~ [sad|happy|late|tired]; it [rains|snows|is dark]
when.does: <!the bus|train> come~; [someone] come~ home; [someone] [eat|sleep|play]~
 the sun comes up; it [rains|snows]
how.does: [someone] be~; [someone] feel~; [someone] [sing|dance|swim|play]~
 <!the frog|rabbit> [jump|hop]~; birds fly; many <s fruit|egg|toy|book> [someone] have~
that.is: <!d animal> be~ {feels}; [someone] be~ {feels}; it [rains|snows]
 it is [late|cold|dark|warm]; <!d baby> sleep~; <!d- animal|thing> be~ {looks}; <!d dog> bark~

# Weather and time
weather: 3 it is [sky] ([today|now|outside|here]); 2 it is [sky] [when.sky]
 it [rains|snows] [when.sky]; it [rains|snows] ([today|now|outside|here])
 it will [rain|snow] [soon|today|tomorrow]
 the wind blows [over <the house|hill|lake>|in <the tree>|today|at night]
 the wind is [cold|warm|strong] ([today|now|at night])
 the rain falls on <the house|tree|flower|hat|car>
 the rain is [cold|warm|good for <s flower|tree>]
 the sky is [blue|gray|dark] ([today|now|at night]); the night is [dark|cold|long|quiet]
 the day is [long|short|warm|hot|cold|sunny|rainy]
 the [sun|moon] is [round|up|high]; it is time for [breakfast|lunch|dinner|school|bed]
 it is [late|dark] ([now|outside|today])
sky: sunny; rainy; windy; cloudy; hot; cold; warm; dark; wet
when.sky: in winter; in the [summer|morning]; at night; on the [hill|beach|farm|lake]
 in the [forest|garden|barn]

# What things are
facts: <!g cow|horse|pig|hen|sheep|goat|duck> live~ on a farm
 <!g bear|fox|owl> live~ in the forest; <!g fish> live~ in the [water|sea]
 <!g zoo> live~ at the zoo
 2 <!g cow|horse|sheep|goat|rabbit> eat~ <s grass|hay>; <!g cow|goat> give~ <s milk>
 <!g bee> make~ <s honey>; <!g hen> lay~ <s egg>; <!g bird> build~ <s nest>
 2 <!g cat|dog|kitten|puppy|rabbit> like~ [to play|milk|children|me]; 3 <!s animal> be~ animals
 <!s fruit> grow~ on trees; <!s- fruit|berry> be~ {looks}; <!s- toy|clothes|flower> can be {looks}
 <!s nut|seed> be~ small; we eat <s fruit|snack|food|nut|berry>

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
