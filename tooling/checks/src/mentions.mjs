import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exceptions } from './mention-exceptions.mjs'
import { collectNames, namesOfFile } from './identifiers.mjs'
import { parseSource } from './imports.mjs'
import { codeBlocks } from './markdown.mjs'
import { readPackageTypes } from './package-types.mjs'
import { problem, runCheck } from './report.mjs'
import { commentRanges } from './comments.mjs'
import { listFiles } from './workspace.mjs'

/**
 * @typedef {{ pos: number, line: number, text: string }} Span A piece of code in a text.
 * @typedef {{ names: import('./identifiers.mjs').Names, types: import('./package-types.mjs').PackageTypes, files:
 *   ReadonlySet<string> }} Known
 * @typedef {(name: string) => boolean} IsKnown Returns true if a text may use the name at its position.
 */

const page =
  /^(?:packages|apps|tooling)\/(?:[^/]+\/)+README\.md$|^docs\/(?!reference\/).*\.md$|^(?:README|CONTRIBUTING|SECURITY)\.md$/
const source = /^(?:packages|apps|tooling)\/(?!spec\/|checks\/test\/).*(?<!\.generated)\.(?:ts|tsx|mts|mjs)$/

const simple = /^#?([a-z_$][\w$]*)$/i
const path = /^(?:[\w$]+\??\.)+[\w$]+$/
const call = /^(?:new |await |using )?([\w$.?]+)\((.*)\)$/s
const object = /^(?:\{.*\}|[a-z_$][\w$]*\??: .+)$/is
const fileName = /^[\w./-]+\.(?:ts|tsx|mts|mjs)$/
const key = /(?<=(?:^|[{,(])\s*)([A-Za-z_$][\w$]*)\??\s*:(?:\s*'([^']*)')?/g

const keywords = new Set(
  'any await false finally never null string this true try undefined unknown using void'.split(' '),
)

/**
 * The types of variables by their names in all texts.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const owners = {
  ctx: ['Context', 'ToolContext', 'ResourceContext', 'PromptContext'],
  client: ['Client', 'TestClient', 'ClientExtensions'],
  server: ['McpServer', 'Server'],
  connection: ['Connection', 'AnyConnection'],
}

/**
 * Reports names in backticks that do not exist, in comments and pages: identifiers, options and files.
 * @param {string} root
 * @returns {string[]}
 */
export function checkMentions(root) {
  const files = listFiles(root)
  const known = { names: collectNames(root), types: readPackageTypes(root), files: fileEnds(files) }
  const inPages = files
    .filter((file) => page.test(file))
    .flatMap((file) =>
      spansOfPage(readFileSync(join(root, file), 'utf8')).flatMap((span) =>
        unknownIn(file, span, { known, isKnown: (name) => known.names.names.has(name) }),
      ),
    )
  const inComments = files.filter((file) => source.test(file)).flatMap((file) => checkComments(root, file, known))
  return [...inPages, ...inComments]
}

/**
 * @param {string} root
 * @param {string} file
 * @param {Known} known
 */
function checkComments(root, file, known) {
  const parsed = parseSource(join(root, file))
  const spans = commentRanges(parsed).flatMap(({ pos, end }) => {
    const line = parsed.getLineAndCharacterOfPosition(pos).line + 1
    return spansOf(parsed.text.slice(pos, end).replaceAll(/^\s*(?:\*|\/\/)/gm, ''), { pos, line })
  })
  if (spans.length === 0) return []
  const own = namesOfFile(parsed)
  return spans.flatMap((span) => {
    const enclosing = own.statements.filter(({ pos, end }) => span.pos >= pos && span.pos < end)
    /** @type {IsKnown} */
    const isKnown = (name) =>
      own.names.has(name) || enclosing.some(({ names }) => names.has(name)) || isKnownElsewhere(file, name, known)
    return unknownIn(file, span, { known, isKnown })
  })
}

/**
 * Returns true for a name that other files define. In packages a lower-case word must be a declaration, a member or a
 * value. A word such as `next` is often a parameter of an unrelated function.
 * @param {string} file
 * @param {string} name
 * @param {Known} known
 */
function isKnownElsewhere(file, name, { names, types }) {
  const isStrict = file.startsWith('packages/') && /^[a-z][a-zA-Z]*$/.test(name)
  if (!isStrict) return names.names.has(name)
  return (
    names.declared.has(name) ||
    names.globals.has(name) ||
    [...types.members.values()].some(({ texts }) => texts.has(name))
  )
}

/** @param {readonly string[]} files */
function fileEnds(files) {
  /** @type {Set<string>} */
  const ends = new Set()
  for (const file of files) {
    const parts = file.split('/')
    for (const index of parts.keys()) ends.add(parts.slice(index).join('/'))
  }
  return ends
}

/**
 * Returns the code in the sentences of a page, and the names of files in its diagrams.
 * @param {string} text
 * @returns {Span[]}
 */
function spansOfPage(text) {
  const lines = text.split('\n')
  const blocks = codeBlocks(text)
  const diagrams = blocks
    .filter(({ language }) => language === '')
    .flatMap(({ code, first }) =>
      code.split('\n').flatMap((line, index) =>
        (line.match(/(?<![\w./-])[\w./-]+\.ts\b/g) ?? []).map((name) => ({
          pos: 0,
          line: first + index + 1,
          text: name,
        })),
      ),
    )
  for (const { first, last } of blocks) lines.fill('', first - 1, last + 1)
  return [...spansOf(lines.join('\n'), { pos: 0, line: 1 }), ...diagrams]
}

/**
 * @param {string} text
 * @param {{ pos: number, line: number }} start
 * @returns {Span[]}
 */
function spansOf(text, { pos, line }) {
  const prose = text.replaceAll(/```[\s\S]*?(?:```|$)/g, (block) => block.replaceAll(/[^\n]/g, ''))
  return [...prose.matchAll(/`([^`\n]+(?:\n[^`\n]+)?)`/g)].map(({ index, 1: span = '' }) => ({
    pos,
    line: line + prose.slice(0, index).split('\n').length - 1,
    text: span.replaceAll(/\s+/g, ' ').trim(),
  }))
}

/**
 * @param {string} file
 * @param {Span} span
 * @param {{ known: Known, isKnown: IsKnown }} scope
 */
function unknownIn(file, { line, text }, scope) {
  const unknown = unknownNames(text, scope).filter((name) => !exceptions.has(name))
  if (unknown.length === 0) return []
  const shown = text === unknown[0] ? `\`${text}\`` : `${[...new Set(unknown)].join(', ')} in \`${text}\``
  const remedy = 'write the name in the code, or add a name of another program to mention-exceptions.mjs'
  return [problem(`${file}:${line} names ${shown}, which does not exist`, remedy)]
}

/**
 * Returns the names in a span of code that do not exist. A span of another form, such as a command, has none.
 * @param {string} text
 * @param {{ known: Known, isKnown: IsKnown }} scope
 * @returns {string[]}
 */
function unknownNames(text, { known, isKnown }) {
  if (fileName.test(text)) return known.files.has(text.replace(/^\.?\//, '')) ? [] : [text]
  const [, alone] = simple.exec(text) ?? []
  if (alone !== undefined) return keywords.has(alone) || isKnown(alone) ? [] : [alone]
  if (path.test(text)) return unknownPath(text, known)
  if (call.test(text)) return unknownInCall(text, known)
  return object.test(text) ? unknownKeys(text, known) : []
}

/**
 * @param {string} text
 * @param {Known} known
 */
function unknownInCall(text, known) {
  const [, called = '', given = ''] = call.exec(text) ?? []
  const words = wordsOf(given).filter((name) => !known.names.names.has(name))
  return [
    ...unknownPath(called, known),
    ...words,
    ...unknownKeys(given, known),
    ...unknownOptions(called, given, known),
  ]
}

/**
 * @param {string} text
 * @param {Known} known
 */
function unknownPath(text, { names, types }) {
  const [first = '', second] = wordsOf(text)
  const members = (owners[first] ?? []).map((type) => types.types.get(type)).filter((type) => type !== undefined)
  const isMember = second === undefined || names.extensions.has(second) || members.some((type) => type.has(second))
  if (members.length > 0 && !isMember) return [text]
  return wordsOf(text).filter((name) => !names.names.has(name))
}

/**
 * Returns the keys of objects that no type of the packages has, and the strings that are not values of their key.
 * @param {string} text
 * @param {Known} known
 */
function unknownKeys(text, { names, types }) {
  return [...text.matchAll(key)].flatMap(([, name = '', value]) => {
    const values = types.members.get(name)
    if (values === undefined) return names.declared.has(name) ? [] : [name]
    return value === undefined || values.isOpen || values.texts.has(value) ? [] : [`${name}: '${value}'`]
  })
}

/**
 * Returns the top-level keys of an argument that the options of the called function do not have.
 * @param {string} called
 * @param {string} given
 * @param {Known} known
 */
function unknownOptions(called, given, { types }) {
  const options = types.options.get(called)
  const [, inside] = /^(?:[\w$]+, )?\{(.*)\}$/s.exec(given) ?? []
  if (options === undefined || inside === undefined) return []
  return keysAtTop(inside).filter((name) => !options.has(name))
}

/** @param {string} text */
function keysAtTop(text) {
  let flat = withoutStrings(text)
  for (let before = ''; before !== flat; ) {
    before = flat
    flat = flat.replaceAll(/\{[^{}]*\}|\[[^[\]]*\]|\([^()]*\)/g, '0')
  }
  return flat.split(',').flatMap((part) => /^\s*([A-Za-z_$][\w$]*)\s*(?::|$)/.exec(part)?.[1] ?? [])
}

/** @param {string} text */
function wordsOf(text) {
  return withoutStrings(text).match(/(?<![\w$-])[A-Za-z_$][\w$]*(?![\w$-])/g) ?? []
}

/** @param {string} text */
function withoutStrings(text) {
  return text.replaceAll(/'[^']*'|"[^"]*"|\.\.\./g, "''")
}

await runCheck(import.meta.url, checkMentions)
