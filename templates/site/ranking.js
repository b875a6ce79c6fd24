// What the search finds, and in which order: lessons before sessions, all of the words before some of them.
"use strict";

const NAMES = ["href", "kind", "title", "trigger", "summary", "tags", "scope", "repository", "trust", "cause", "date", "outcome"];
const BETWEEN_WORDS = /[\s\p{Z}\p{P}\p{S}]+/u; // backticks are symbols, and mark code in titles
const SAYS_NOTHING = new Set(
  "a an and are as at be but by can could did do does for from get has have how i if in into is it its me my of on or our per shall should so than that the their them then there these they this to up was we were what when where which who why will with would you your".split(" "),
);
const FUZZY = 0.2;
const FEW = 2; // words, all of which a page must have; of more at least half
const SESSION = 0.05; // a session has the words of what it taught, and more of them

class WikiSearch {
  constructor() {
    this.rows = [];
    this.index = new MiniSearch({
      tokenize: (text) => text.split(BETWEEN_WORDS),
      processTerm: (word) => (SAYS_NOTHING.has(word.toLowerCase()) ? null : word.toLowerCase()),
      fields: ["title", "trigger", "tags", "summary"],
      extractField: (row, name) => (name === "tags" ? row.tags.join(" ") : row[name]),
      searchOptions: {
        boost: { title: 3, trigger: 2, tags: 2 },
        boostDocument: (id) => (this.rows[id].kind === "session" ? SESSION : 1),
        prefix: (word) => word.length > 1,
        fuzzy: (word) => (word.length > 4 && !/\d/.test(word) ? FUZZY : false),
      },
    });
  }

  // Takes in lines of search/rows-N.js.
  add(lines) {
    const first = this.rows.length;
    for (const line of lines) {
      const row = { id: this.rows.length };
      NAMES.forEach((name, at) => { row[name] = line[at]; });
      this.rows.push(row);
    }
    this.index.addAll(this.rows.slice(first));
  }

  // The rows that fit and have most of the words, the best first; all that fit where no word says anything.
  find(typed, fits) {
    const words = new Set(typed.toLowerCase().split(BETWEEN_WORDS).filter((word) => word && !SAYS_NOTHING.has(word)));
    if (!words.size) return this.rows.filter(fits);
    const least = words.size > FEW ? words.size / 2 : words.size;
    const hits = this.index.search(typed, { filter: (hit) => hit.queryTerms.length >= least && fits(this.rows[hit.id]) });
    for (const hit of hits) hit.score *= hit.queryTerms.length ** 2;
    return hits.sort((one, other) => other.score - one.score).map((hit) => this.rows[hit.id]);
  }
}
