import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problem, runCheck } from './report.mjs'
import { listFiles } from './workspace.mjs'

/** @type {readonly (readonly [RegExp, string, string])[]} */
const patterns = [
  [/(?<![\w.:/-])\/(?:home|Users)\/[\w.-]+\//, 'a path of one machine', 'write it relative to the repository'],
  [/[A-Z]:\\Users\\/, 'a path of one machine', 'write it relative to the repository'],
  [/\btarball: https?:/, 'a registry host', 'set registry=https://registry.npmjs.org/ and run pnpm install again'],
  [/https?:\/\/[\w.-]*\/(?:artifactory|nexus|verdaccio)\b/i, 'a registry host', 'leave the registry to each machine'],
  [
    /^\s*(?:@[\w-]+:)?registry\s*=\s*(?!https:\/\/registry\.npmjs\.org)/m,
    'a registry host',
    'leave it to each machine',
  ],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key', 'make one when the test starts'],
  [/\b(?:npm_[A-Za-z0-9]{36}|gh[pousr]_[A-Za-z0-9]{36,}|AKIA[0-9A-Z]{16})\b/, 'a secret', 'revoke it, then remove it'],
]

const binary = /\.(png|jpe?g|gif|ico|woff2?|gz|tgz|zip|wasm)$/

/**
 * No file of the repository names a machine, a registry or a secret.
 * @param {string} root
 */
export function checkPaths(root) {
  return listFiles(root)
    .filter((file) => !binary.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const own = text.includes(`${root}/`)
        ? [problem(`${file} holds ${root}`, 'write the path relative to the repository')]
        : []
      return [...own, ...patterns.flatMap((row) => match(file, text, row))]
    })
}

/**
 * @param {string} file
 * @param {string} text
 * @param {readonly [RegExp, string, string]} row
 */
function match(file, text, [pattern, what, remedy]) {
  const found = pattern.exec(text)
  if (found === null) return []
  const line = text.slice(0, found.index).split('\n').length
  return [problem(`${file}:${line} holds ${what}`, remedy)]
}

await runCheck(import.meta.url, checkPaths)
