// Figures as people read them. 0 and what is missing are unknown: a dash.

export const dash = "\u2013";

const digits = x => x >= 99.5 ? x.toFixed(0) : x >= 9.95 ? x.toFixed(1) : x.toFixed(2);

export function time(s) {
  if (!s) return dash;
  if (s < 0) return "-" + time(-s);
  if (s < 0.9995) return digits(s * 1e3) + " ms";
  return s < 120 ? digits(s) + " s" : (s / 60).toFixed(0) + " min";
}

// both writes two times, with the unit once if it is the same.
export function both(a, b) {
  const first = time(a), second = time(b), unit = first.slice(first.indexOf(" "));
  if (!b) return first;
  return (a && second.endsWith(unit) ? first.slice(0, -unit.length) : first) + ", " + second;
}

function scaled(x, unit, prefixes) {
  if (!x) return dash;
  let i = 0;
  while (x >= 999.5 && i < prefixes.length - 1) {
    x /= 1000;
    i++;
  }
  return (i === 0 ? x.toFixed(0) : digits(x)) + " " + prefixes[i] + unit;
}

export const rate = bytesPerSecond => scaled(bytesPerSecond * 8, "bit/s", ["", "k", "M", "G"]);
export const bytes = n => scaled(n, "B", ["", "k", "M", "G", "T"]);
export const share = x => x === undefined || x === null ? dash : (x * 100).toFixed(Math.abs(x) < 0.0995 ? 1 : 0) + " %";
export const times = x => x ? digits(x) + "\u00d7" : dash;
export const count = n => n ? n.toLocaleString("en") : "0";

// label turns a name of the program's into words.
export const label = name => (name || "").replaceAll("_", " ");
