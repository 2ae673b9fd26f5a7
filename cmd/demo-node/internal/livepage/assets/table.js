// The peers of a frame. They come by column, and a row is put together only where
// it is looked at.

export class Table {
  constructor(columns) {
    this.columns = columns;
    this.length = columns.peer.length;
  }

  name(i) { return this.columns.peer[i]; }

  group(i) { return this.columns.group[i]; }

  verdict(i) { return this.columns.words[this.columns.verdict[i]]; }

  outcome(i) { return this.columns.words[this.columns.outcome[i]]; }

  row(i) {
    const c = this.columns;
    return {
      peer: c.peer[i], base: c.base[i], p95: c.p95[i], rate: c.rate[i], coverage: c.coverage[i], expected: c.expected[i],
      claim: c.claim[i], actual: c.actual[i], gate: c.words[c.gate[i]], closes: c.closes[i],
      verdict: this.verdict(i), reason: c.words[c.reason[i]], bad: c.bad[i], demoted: c.demoted[i], newcomer: c.newcomer[i],
    };
  }
}
