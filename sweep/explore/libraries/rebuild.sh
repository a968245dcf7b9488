#!/usr/bin/env bash
# Bundles the libraries of the page from npm into web/libraries.min.js, and their licences into web/libraries.LICENSES.txt.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp "$here"/{package.json,package-lock.json,libraries.js} "$work"
cd "$work"
npm ci --no-audit --no-fund --ignore-scripts
npx esbuild libraries.js --bundle --minify --format=iife --global-name=libraries --target=es2022 --charset=utf8 --legal-comments=none \
  --metafile=meta.json --outfile="$here/../web/libraries.min.js"
node - > "$here/../web/libraries.LICENSES.txt" <<'JS'
const { readFileSync, readdirSync } = require("node:fs");
const [{ inputs: parts }] = Object.values(JSON.parse(readFileSync("meta.json", "utf8")).outputs);
const inputs = Object.keys(parts).filter((path) => parts[path].bytesInOutput > 0);
const packages = [...new Set(inputs.map((path) => path.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]).filter(Boolean))].sort();
for (const path of packages) {
  const { name, version, license, author, repository } = JSON.parse(readFileSync(`${path}/package.json`, "utf8"));
  const file = readdirSync(path).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? readFileSync(`${path}/${file}`, "utf8").trim() : `${license}; ${author?.name ?? author ?? ""}; ${repository?.url ?? repository ?? ""}`;
  process.stdout.write(`${name} ${version} (${license})\n\n${text}\n\n${"-".repeat(80)}\n\n`);
}
JS
