// What the tests share: a server, a browser, and an eye on what goes wrong in it.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

export const out = process.env.PAGE_OUT;
mkdirSync(out, { recursive: true });

// Chromium starts without asking anyone anything, and as root without its sandbox,
// which root cannot have.
const flags = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM, chromiumSandbox: process.getuid() !== 0, args: flags });

// start runs a program and waits for the line that says where it serves.
export async function start(program, args, stream = "stdout") {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise(resolve => child.once("exit", resolve));
  const said = [];
  const url = await new Promise((resolve, reject) => {
    for (const name of ["stdout", "stderr"]) {
      createInterface({ input: child[name] }).on("line", line => {
        said.push(line);
        const found = line.match(/http:\/\/[^/\s]+\//);
        if (name === stream && found) resolve(found[0]);
      });
    }
    child.once("exit", code => reject(new Error(`${program} ended with ${code}:\n${said.join("\n")}`)));
  });
  return {
    url, said, ended,
    async stop() {
      child.kill("SIGINT");
      await ended;
    },
  };
}

// visit opens a page of a server and notes what must not be.
export async function visit(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", m => {
    if (["error", "warning"].includes(m.type())) wrong.push(`console: ${m.text()}`);
  });
  page.on("pageerror", e => wrong.push(`exception: ${e.message}`));
  page.on("request", r => {
    if (!r.url().startsWith(url) && !r.url().startsWith("data:")) wrong.push(`asks for ${r.url()}`);
  });
  page.on("response", r => {
    if (r.status() >= 400) wrong.push(`${r.status()} for ${r.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector("#grid .body .row .name:not(:empty)");
  return { page, wrong, close: () => context.close() };
}

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

// serious are the faults that axe finds serious or worse. It is put in past the
// page's policy, which would not let it in.
export async function serious(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(v => ({ impact: v.impact, id: v.id, where: v.nodes.slice(0, 3).map(n => `${n.html.slice(0, 160)} (${n.failureSummary.split("\n")[1]?.trim()})`) }))
    .filter(v => ["serious", "critical"].includes(v.impact));
}

// names are the peers in sight, in order.
export const names = page => page.$$eval("#grid .body .row:not([hidden])", rows => rows
  .map(r => [Number(r.getAttribute("aria-rowindex")), r.querySelector(".name").textContent])
  .sort((a, b) => a[0] - b[0]).map(([, name]) => name));

// quantile is that of some numbers.
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}
