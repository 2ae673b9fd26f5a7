// Copies what the page embeds from where npm put it: npm ci && npm run vendor.
import { copyFileSync, mkdirSync } from "node:fs";

const to = new URL("../assets/vendor/uplot/", import.meta.url);
mkdirSync(to, { recursive: true });
for (const [from, name] of [["dist/uPlot.iife.min.js", "uPlot.iife.min.js"], ["dist/uPlot.min.css", "uPlot.min.css"], ["LICENSE", "LICENSE"]]) {
  copyFileSync(new URL(`node_modules/uplot/${from}`, import.meta.url), new URL(name, to));
}
