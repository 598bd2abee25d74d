import { problem } from './report.mjs'
import { isTest, listFiles, readText } from './workspace.mjs'

const page = 'docs/troubleshooting.md'
const source = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract)\/).*\.ts$/
/** The folders in which a number from 400 to 509 is the status of a response. */
const serverSource =
  /^packages\/(?:transport-http\/src\/(?:server|node|lambda)|legacy\/src\/server|auth\/src\/server)\//
const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
const rpcCode = /(?<![\w.]|[<>]=? )-3[0-9]{4}\b/g
const status = /(?<![\w.-])(?:4[0-3][0-9]|50[0-9])\b/g
const cliMessage = /new CliError\(\s*'\w+',\s*(?:'((?:[^'\\]|\\.)*)'|`([^`]*)`)/g

const codeType = /export type (?:Definition|StateUsage|Handler|Client)ErrorCode =((?:\s*\|?\s*'\w+')+)/g

/**
 * Compares the page with the source in both directions. The page must list each code of a JSON-RPC error, each HTTP
 * status of an error, each code of the errors of authors and clients, and each message of `mcpx`. Each message in a
 * table of the page must be in the source, where `…` matches any text, and each of the codes must be thrown.
 * @param {string} root
 * @returns {string[]}
 */
export function checkTroubleshooting(root) {
  const text = readText(root, page)
  const sources = listFiles(root)
    .filter((file) => source.test(file) && !isTest(file))
    .map((file) => ({ file, code: readText(root, file).replaceAll(comments, '') }))
  const missing = [...new Set(sources.flatMap(({ file, code }) => requiredIn(file, code)))].filter(
    (required) => !text.includes(required),
  )
  const all = sources.map(({ code }) => code).join('\n')
  const unthrown = codesIn(all).filter((code) => !new RegExp(`Error\\([^'()]*'${code}'`).test(all))
  const stale = messagesOf(text).filter((message) => !message.split('…').every((part) => all.includes(part.trim())))
  return [
    ...unthrown.map((code) =>
      problem(
        `nothing throws an error with the code ${code}`,
        `throw it with the code as its first argument, as in new ClientError('${code}', …), or remove the code`,
      ),
    ),
    ...missing.map((required) => problem(`${page} lacks ${required}`, 'write its meaning and its remedy')),
    ...stale.map((message) =>
      problem(`${page} has the message "${message}"`, 'no package has this message: correct it'),
    ),
  ]
}

/**
 * Returns the texts that a file requires the page to contain.
 * @param {string} file
 * @param {string} code
 */
function requiredIn(file, code) {
  const statuses = serverSource.test(file) ? (code.match(status) ?? []) : []
  return [
    ...(code.match(rpcCode) ?? []).map((found) => `| ${found}`),
    ...statuses.map((found) => `| ${found} |`),
    ...codesIn(code).map((member) => `| \`${member}\` |`),
    ...[...code.matchAll(cliMessage)].map(([, text = '', template = text]) => template.replaceAll(/\$\{[^}]*\}/g, '…')),
  ]
}

/** Returns the members of the types of codes, which are unions of string literals. @param {string} code */
function codesIn(code) {
  return [...code.matchAll(codeType)].flatMap(([, union = '']) => union.match(/\w+/g) ?? [])
}

/**
 * Returns the texts in backticks of the columns with the heading `message`.
 * @param {string} text
 */
function messagesOf(text) {
  const lines = text.split('\n')
  let column = -1
  return lines.flatMap((line, index) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    if (!line.startsWith('|')) return []
    if (lines[index + 1]?.startsWith('| ---') === true) {
      column = cells.indexOf('message')
      return []
    }
    return [...(cells[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, message = '']) => message)
  })
}
