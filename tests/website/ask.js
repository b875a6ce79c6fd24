// Searches a built site outside of a browser: node ask.js SITE QUESTION… → the kinds and titles of the first hits, as JSON.
"use strict";

const fs = require("fs");
const vm = require("vm");

const [site, ...questions] = process.argv.slice(2);
globalThis.MiniSearch = require(`${site}/minisearch.js`);
vm.runInThisContext(`${fs.readFileSync(`${site}/ranking.js`, "utf8")}\nglobalThis.pages = new WikiSearch();`);
globalThis.wikiRows = (lines) => pages.add(lines);
vm.runInThisContext(fs.readFileSync(`${site}/search/rows-1.js`, "utf8"));
const answers = questions.map((each) => pages.find(each, () => true).map((row) => [row.kind, row.title]));
process.stdout.write(JSON.stringify(answers));
