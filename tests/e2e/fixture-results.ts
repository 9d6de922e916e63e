/** Expected result of a run. */
export interface Expected {
  readonly body?: Readonly<Record<string, unknown>>;
  /** Defaults to `completed`. */
  readonly status?: "completed" | "failed";
  readonly error?: string;
  /** `name=output` of each executed step in order, prefixed with its status unless it completed. */
  readonly steps: readonly string[];
}

const target = (text: string) => ({ body: { target: text } });
const params = (given: Readonly<Record<string, unknown>>) => ({ body: { params: given } });

/** Expected results by workflow name; a name may occur more than once. */
export const RESULTS: readonly (readonly [workflow: string, expected: Expected])[] = [
  ["greeting", { ...params({ word: "g'day; $(id)" }), steps: ["greet=g'day; $(id), a.example"] }],
  ["one-word", { steps: ["say=word"] }],
  ["long-command", { steps: ["gather=3", "joined=first-second", "look=3 of line 1"] }],
  ["side-by-side-commands", { steps: ["race=slow\nquick\nmiddling"] }],
  ["arguments-in-parts", { steps: ["fill=", "show=--fast|--width|20|-i|a.example|"] }],
  ["in-time", { steps: ["seconds=by seconds", "duration=by duration", "template=by template"] }],
  ["too-slow", { status: "failed", error: "command timed out after", steps: ["failed doze="] }],
  [
    "named-like-functions",
    { steps: ["write=", "look=true", "again=true false 1", "use=true true false 1 yes"] },
  ],
  ["shared-names", { steps: ["tell=north\nsouth", "tell-2=second", "each=wind north\nwind south"] }],
  ["kept-output", { steps: ["keep=all", "failed keep-some=", "show=all some"] }],
  [
    "library",
    {
      steps: [
        "write=",
        "tidy=true",
        "first=apple",
        "told=found 2 kinds",
        "shape=A41truetruex+y",
        "asked=2",
        "report=2 apple A41truetruex+y 2",
      ],
    },
  ],
  ["side-by-side-functions", { steps: ["three=one", "show=three"] }],
  ["exported-calls", { steps: ["list=a\nb\nc", "use=3, counted just now: a+b+c"] }],
  ["defaults-and-switch", { steps: ["measure=gentle-a.example", "stroll=strolling gentle-a.example"] }],
  [
    "defaults-and-switch",
    { ...params({ pace: "hard" }), steps: ["measure=hard-a.example", "sprint=sprinting hard-a.example"] },
  ],
  ["defaults-and-switch", { ...params({ pace: "?" }), steps: ["measure=?-a.example"] }],
  [
    "switches",
    { steps: ["text=deep=false loud=true", "script=boolean true loud", "choose=chosen", "skim=skimmed"] },
  ],
  [
    "switches",
    {
      ...params({ deep: true, loud: "0" }),
      steps: ["text=deep=true loud=false", "script=boolean false quiet", "choose=chosen", "dig=dug"],
    },
  ],
  [
    "gates",
    {
      steps: [
        "bare=in",
        "template=in",
        "quoted=in",
        "negated=in",
        "skipped closed=",
        "skipped compared=",
        "skipped unknown-count=",
        "after=went on",
      ],
    },
  ],
  [
    "merged-exports",
    { steps: ["both=sunrise\nsunset\n2", "east=sunrise", "west=sunset", "count=2", "tell=sunrise sunset 2"] },
  ],
  ["naps", { steps: ["all=1\n2\n3", "nap-1=1", "nap-2=2", "nap-3=3"] }],
  [
    "waiting-for-others",
    { steps: ["roof=", "walls=", "ground=", "garden=garden", "done=ground walls roof"] },
  ],
  [
    "lines",
    { steps: ["list=", "paint=1 red\n2 green\n3 blue", "show=1 red\n2 green\n3 blue", "skipped nothing="] },
  ],
  [
    "prepared-lines",
    {
      steps: [
        "list=",
        "visit=visiting https://a.example/x\nvisiting https://b.example",
        "kept=as-it-is",
        "show=visiting https://a.example/x\nvisiting https://b.example\nas-it-is",
      ],
    },
  ],
  ["file-names", { steps: ["save=\n", "show=out-https___a.example_b_c_d.txt\nout-plain.txt\nplain"] }],
  ["many-at-once", { steps: ["list=", "work=1\n2\n3\n4\n5\n6\n7\n8\n9", "show=1 2 3 4 5 6 7 8 9"] }],
  [
    "nested",
    {
      steps: [
        "list=",
        "grid=a1\na2\nb1\nb2",
        "pairs=left-x\nright-x\nleft-y\nright-y",
        "some-fail=\n\n",
        `stream=${Array.from({ length: 1200 }, (_, at) => `item ${at + 1}`).join("\n")}`,
        "count=3\n1200\nitem 1200",
        "show=a1\na2\nb1\nb2\nleft-x\nright-x\nleft-y\nright-y",
      ],
    },
  ],
  ["leap", { steps: ["start=3", "landing=landed"] }],
  ["pick", { steps: ["weigh=small", "basket=basket"] }],
  ["pick", { ...params({ size: "large" }), steps: ["weigh=large", "cart=cart"] }],
  ["pick", { ...params({ size: "none" }), steps: ["weigh=none"] }],
  ["act-at-once", { steps: ["decide=shell", "show=by shell"] }],
  ["act-at-once", { ...params({ mode: "shells" }), steps: ["decide=shells", "show=first\nsecond"] }],
  ["act-at-once", { ...params({ mode: "script" }), steps: ["decide=script", "show=by script"] }],
  ["act-at-once", { ...params({ mode: "broken" }), steps: ["decide=broken", "show=nothing"] }],
  ["act-at-once", { ...params({ mode: "else" }), steps: ["decide=else", "show=default"] }],
  ["all-that-hold", { steps: ["count=", "many=", "show=some many"] }],
  ["all-that-hold", { ...params({ findings: 2 }), steps: ["count=", "few=", "show=some few"] }],
  ["in-place", { steps: ["prepare=ready", "use=ready to go", "finish=finished ready to go"] }],
  [
    "in-place",
    {
      ...params({ thorough: "1" }),
      steps: ["prepare=ready", "use=ready to go", "dig=digging", "finish=finished ready to go"],
    },
  ],
  ["in-place", { ...params({ exclude_modules: "work" }), steps: ["prepare=ready", "finish=finished"] }],
  ["by-path", { steps: ["collect=", "count=3", "note=", "show-counts=a.example=3"] }],
  ["who-am-i", { steps: ["say-first=who-am-i first-part", "say-second=who-am-i second-part"] }],
  ["handed-on", { steps: ["make=[1,2,3]", "double=12", "tell=[1,2,3] 6 12"] }],
  [
    "templates-everywhere",
    { steps: ["list=", "each=p-x-ps\np-y-ps", "pair=P none\n2", "left=P none", "right=2", "show=P none 2"] },
  ],
  [
    "again-and-again",
    { steps: ["collect=", "count=3", "note=", "count=3", "note=", "show-counts=once=3\ntwice=3"] },
  ],
  [
    "again-and-again",
    {
      ...params({ third: true }),
      steps: [
        "collect=",
        "count=3",
        "note=",
        "count=3",
        "note=",
        "count=3",
        "note=",
        "show-counts=once=3\ntwice=3\nthrice=3",
      ],
    },
  ],
  ["a-part-fails", { steps: ["failed fail=", "go-on=went on", "tell=well\nran"] }],
  ["a-part-aborts", { status: "failed", error: "command failed with exit code 4", steps: ["failed fail="] }],
  ["skip-the-rest", { steps: ["nothing-there=nothing to do", "on=on"] }],
  ["around", { steps: ["open=", "told=opened", "work=", "close=open work-yes close"] }],
  ["broken", { steps: ["failed trips=", "work=worked", "failed trips-too="] }],
  ["without-a-type", { steps: ["plain=plain", "work=plain"] }],
  ["before-only", { steps: ["ahead=ahead", "work=work"] }],
  ["after-only", { steps: ["work=", "behind=behind"] }],
  ["after-only", { ...params({ code: 3 }), status: "failed", error: "exit code 3", steps: ["failed work="] }],
  ["around-a-flow", { steps: ["light-up=", "page=on", "leaf=turned", "light-down=on\noff"] }],
  [
    "around-a-flow",
    { ...params({ code: 5 }), status: "failed", error: "exit code 5", steps: ["light-up=", "failed page="] },
  ],
  ["tools-there", { steps: ["work=all there"] }],
  [
    "tools-there",
    { ...target("ab"), status: "failed", error: "dependency check failed: condition", steps: [] },
  ],
  [
    "tool-missing",
    { status: "failed", error: "required command not found: no-such-tool-of-anybody", steps: [] },
  ],
  ["kinds-of-target", { ...target("https://a.example/x"), steps: ["work=url"] }],
  [
    "kinds-of-target",
    { ...target("10.0.0.1"), status: "failed", error: "target is not of type url or domain", steps: [] },
  ],
  ["kinds-of-variable", { ...target("10.0.0.0/8"), steps: ["work=10.0.0.0/8"] }],
  [
    "kinds-of-variable",
    { ...target("a b"), status: "failed", error: "Target is not of type domain or ip or cidr", steps: [] },
  ],
  ["wishes", { steps: ["work=as wished"] }],
  ["no-target", { body: { target: "", empty_target: true }, steps: ["work=named"] }],
  [
    "parts-of-target",
    { ...target("www.shop.co.uk"), steps: ["kind=domain shop.co.uk co.uk shop shop basic", "skipped url="] },
  ],
  [
    "parts-of-target",
    {
      body: { target: "https://a.example:8443/x/y.js?z" },
      steps: [
        "kind=url a.example example a a basic",
        "url=https a.example 8443 /x/y.js js https://a.example:8443",
      ],
    },
  ],
  [
    "parts-of-target",
    {
      body: { target: "https://a.example/", heuristics_check: "none" },
      steps: ["kind=none", "skipped url="],
    },
  ],
  ["papers", { steps: ["write="] }],
  ["tables", { steps: ["write=", "turn=true", "csv=host,port\na,1\nb,2", "back=2", "first=a"] }],
  ["soup", { steps: ["boil=boil small", "season=season 1"] }],
  ["soup-and-bread", { steps: ["boil=boil small", "season=season 2", "bread=bread"] }],
  ["soup-for-many", { steps: ["invite=12 guests", "boil=boil big", "season=season 2", "bread=bread"] }],
  ["stew", { steps: ["boil=boil small", "season=pepper", "rest=rest"] }],
  ["salad", { steps: ["cut=cut"] }],
  ["broth", { steps: ["boil=simmer"] }],
  [
    "menu",
    { steps: ["boil=boil small", "season=season 1", "boil=boil small", "season=pepper", "rest=rest"] },
  ],
  ["short-menu", { steps: ["boil=boil small", "season=season 1", "pay=one course"] }],
  ["paces", { steps: ["walk=10 1s"] }],
  ["paces-fast", { steps: ["walk=40 0s"] }],
  ["paces-faster", { steps: ["walk=99 0s"] }],
  [
    "sums",
    {
      steps: ["show=50 12 5 1800s 15 true a.example:50 9 51", "use=3", "if-wide=8", "skipped if-narrow="],
    },
  ],
  [
    "sums",
    {
      ...params({ threads: "4", width: "16" }),
      steps: [
        "show=16 4 -1 1800s 6 false a.example:16 3 17",
        "use=1",
        "skipped if-wide=",
        "if-narrow=narrow",
      ],
    },
  ],
  ["divides-by-nothing", { steps: ["split=5"] }],
  [
    "divides-by-nothing",
    { ...params({ parts: 0 }), status: "failed", error: "division by zero", steps: ["failed split="] },
  ],
  [
    "divides-by-nothing",
    {
      ...params({ parts: "few" }),
      status: "failed",
      error: '"few" is not a number',
      steps: ["failed split="],
    },
  ],
  [
    "conditions-in-every-form",
    {
      steps: [
        "c1=1",
        "c2=2",
        "c3=3",
        "c4=4",
        "c5=5",
        "skipped c6=",
        "skipped c7=",
        "c8=8",
        "skipped c9=",
        "c10=10",
      ],
    },
  ],
  [
    "filters",
    {
      steps: [
        "numbers=15 7 true 3",
        "texts=A.EXAMPLE Two Words abc a.e a....",
        "fallbacks=a,b,c on a.example a",
      ],
    },
  ],
  [
    "built-in-folders",
    {
      steps: [
        "folders=external-binaries\nexternal-data\nexternal-configs\nexternal-scripts\nmarkdown-report-templates\nsnapshot\nworkflows",
        "temporary=1\nkept",
        "again=.tmp",
        "data=1",
        "facts=boolean false true true",
      ],
    },
  ],
  ["misspelled", { status: "failed", error: "undefined: {{Dta}}", steps: ["fine=fine", "failed clean="] }],
  ["generated-params", { steps: ["show=4 /root host-of-a.example 6 a.example-abc b"] }],
  ["calls-that-go-on", { steps: ["write=", "tell=true true A.EXAMPLE! true two of them (so it seems)"] }],
  [
    "loops-of-calculated-width",
    {
      steps: ["list=", "double=2 #1\n4 #2\n6 #3\n8 #4", "pairs=l1\nr2\nl2\nr3\nl3\nr4\nl4\nr5"],
    },
  ],
  [
    "shell-of-all-sorts",
    {
      steps: [
        'lines=<one>\n<two>\na.example one\n1\n{"target":"a.example","n":100}\nmatches\nexample\nshown a.example\na 9\na.example\n2\nitem one\nitem two',
        "documents=open a.example 33\nquoted a.example domain run",
      ],
    },
  ],
  [
    "every-field-of-a-module",
    {
      steps: [
        "before=",
        "s1=21 true",
        "s3=decided\n42 1 static given",
        "s4=a\n43",
        "s5=p1\np2",
        "behind=d.txt\ns1.txt",
      ],
    },
  ],
  [
    "a-flow-that-calculates",
    {
      steps: [
        "show=20 5 1 6m 15 false a.example:20 9 21",
        "use=1",
        "skipped if-wide=",
        "if-narrow=narrow",
        "tell=7 a-flow-that-calculates/last",
      ],
    },
  ],
];

/** Expected plans, by workflow name, of workflows that need tools or hosts that this machine lacks. */
export const PLANS: Readonly<Record<string, string>> = {
  crawl: "run alive, depends crawl-all, depends crawl-one, run store",
  enumerate: "run folder, run ask, run merge, run clean",
  extensive:
    "run folder, run ask, run merge, run clean, run check, depends probe-all, depends keep, run alive, depends crawl-all, depends crawl-one, run store, run scan-all, run import, run prepare, run scan-source, depends import-sarif",
  "passed-on": "run folder, run ask, run merge, run clean, depends check, depends probe-all, depends keep",
  probe: "run check, depends probe-all, depends keep",
  repository: "run prepare, run scan-source, depends import-sarif",
  scan: "run scan-all, run import",
  standard:
    "run folder, run ask, run merge, run clean, run check, depends probe-all, depends keep, run alive, depends crawl-all, depends crawl-one, run store, run scan-all, run import",
  "whole-domain":
    "run setup, run list-names, skip list-deep, run merge, run count-names, depends check-input, depends resolve, run extract, run import, depends fingerprint, run filter, run make, depends follow, depends follow-one, run gather, run check-pages, depends summary, run import-faults",
  "every-request": "run put, run find, depends never, depends make, depends drop, depends lost, depends tell",
  "one-of-every-type":
    "run by-shell, run by-script, run by-loop, run by-loop-one, run at-once, run at-once-1, run by-request, run by-model, skip by-container, skip by-host",
  "use-the-answer": "run ask-again, depends tell",
};
