import { problem } from './report.mjs'
import { listFiles, readText } from './workspace.mjs'

/** @type {readonly (readonly [RegExp, string, string])[]} */
const patterns = [
  [
    /(?<![\w.:/-])\/(?:home|Users)\/[\w.-]+\/|[A-Z]:\\Users\\/,
    'a path of one machine',
    'write it relative to the repository',
  ],
  [/\btarball: https?:/, 'a registry host', 'set registry=https://registry.npmjs.org/ and run pnpm install again'],
  [
    /https?:\/\/[\w.-]*\/(?:artifactory|nexus|verdaccio)\b|^\s*(?:@[\w-]+:)?registry\s*=\s*(?!https:\/\/registry\.npmjs\.org)/im,
    'a registry host',
    'remove it: each machine configures its registry',
  ],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key', 'generate one in the test'],
  [/\b(?:npm_[A-Za-z0-9]{36}|gh[pousr]_[A-Za-z0-9]{36,}|AKIA[0-9A-Z]{16})\b/, 'a secret', 'revoke it, then remove it'],
]

const binary = /\.(png|jpe?g|gif|ico|woff2?|gz|tgz|zip|wasm)$/
const vague =
  /^(?:packages|apps|tooling)\/.*\b(?:utils?|utilit(?:y|ies)|helpers?|common|misc|shared|lib|impl|manager)\b.*\.m?[jt]s$/

/**
 * Reports vague names of files, and paths of one machine, registry hosts and secrets in them.
 * @param {string} root
 */
export function checkPaths(root) {
  return listFiles(root)
    .filter((file) => !binary.test(file))
    .flatMap((file) => {
      const text = readText(root, file)
      const own = text.includes(`${root}/`)
        ? [problem(`${file} contains ${root}`, 'write the path relative to the repository')]
        : []
      const name = vague.test(file) ? [problem(`${file} has a vague name`, 'name it after its content')] : []
      return [...name, ...own, ...patterns.flatMap((row) => match(file, text, row))]
    })
}

/** @param {string} file @param {string} text @param {readonly [RegExp, string, string]} row */
function match(file, text, [pattern, what, remedy]) {
  const found = pattern.exec(text)
  if (found === null) return []
  const line = text.slice(0, found.index).split('\n').length
  return [problem(`${file}:${line} contains ${what}`, remedy)]
}
