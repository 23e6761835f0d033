package text

// stopEnglish is the English stop list of the Snowball project
// (https://snowballstem.org/algorithms/english/stop.txt). Its contracted forms
// stand here as the two words that they are split into at the apostrophe;
// halves that are words of their own (won't, haven't, can't, let's) do not
// make those words stop words.
const stopEnglish = `
i me my myself we our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself
they them their theirs themselves
what which who whom this that these those
am is are was were be been being
have has had having do does did doing
would should could ought cannot
m re s ve d ll t
isn aren wasn weren hasn hadn doesn don didn wouldn shan shouldn couldn mustn
a an the
and but if or because as until while
of at by for with about against between into through during before after
above below to from up down in out on off over under
again further then once
here there when where why how
all any both each few more most other some such
no nor not only own same so than too very
`
