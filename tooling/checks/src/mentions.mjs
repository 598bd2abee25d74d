import { join } from 'node:path'
import { collectNames, namesOfFile } from './identifiers.mjs'
import { parseSource } from './syntax.mjs'
import { codeBlocks, withoutBlocks } from './markdown.mjs'
import { problem } from './report.mjs'
import { listFiles, readText } from './workspace.mjs'

/**
 * @typedef {{ pos: number, line: number, text: string }} Span A piece of code in a text.
 * @typedef {{ names: import('./identifiers.mjs').Names, files: ReadonlySet<string> }} Known
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
const key = /(?<=(?:^|[{,(])\s*)([A-Za-z_$][\w$]*)\??\s*:/g
const comment = /\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*/gm

const keywords = new Set(
  'any await false finally never null string this true try undefined unknown using void'.split(' '),
)

/** Names in texts that are in no source, by where they come from. */
const namesOfOthers = {
  'names of drafts that were not adopted': 'dependent_requests dependent_responses resourceAllocation',
  'JSON Schema, claims of a JWT, and codes of OAuth': 'uniqueItems scp invalid_target',
  'options of oidc-provider': 'accessTokenFormat rotateRefreshToken',
  "options of Node's TLS, and its environment": 'ca servername HTTPS_PROXY ProxyAgent',
  'options of zod, Ajv and the Redis client': 'fromJSONSchema allErrors socketTimeout reconnectStrategy',
  'packages and programs': 'pg re2js npx uvx ssh initdb setsid systemctl',
  'PostgreSQL and nginx': 'jsonb NOTIFY least_conn',
  'settings of Lambda, Fly and Vercel': 'RESPONSE_STREAM nodejs24 min_machines_running maxDuration',
  'variables and metrics of OpenTelemetry':
    'OTEL_TRACES_EXPORTER OTEL_CONFIG_FILE mcp_server_operation_duration_seconds_count',
  'files of hosts, and of a reader who follows a guide':
    'claude_desktop_config weather.mts weather-page.mjs proxy.mjs quick-start.mts definition.mts tracker.test.mts ' +
    'files.mjs',
  'a variable of the server in examples/deploy': 'DATABASE_LISTEN_URL',
  'other SDKs':
    'protocolVersionDiscovery oninitialized authInfo EventStore requireBearerAuth mcpAuthMetadataRouter endTurn ' +
    'stopSequence toolUse',
  'methods of strings and arrays': 'indexOf sort',
  'examples within a sentence': 'dueDate sonnet',
}
const exceptions = new Set(Object.values(namesOfOthers).flatMap((names) => names.split(' ')))

/**
 * Reports names in backticks that do not exist, in comments and pages: identifiers, options and files.
 * @param {string} root
 * @returns {string[]}
 */
export function checkMentions(root) {
  const files = listFiles(root)
  const known = { names: collectNames(root), files: fileEnds(files) }
  const inPages = files
    .filter((file) => page.test(file))
    .flatMap((file) =>
      spansOfPage(readText(root, file)).flatMap((span) =>
        unknownIn(file, span, { known, isKnown: (name) => known.names.names.has(name) }),
      ),
    )
  const inComments = files.filter((file) => source.test(file)).flatMap((file) => checkComments(root, file, known))
  return [...inPages, ...inComments]
}

/** @param {string} root @param {string} file @param {Known} known */
function checkComments(root, file, known) {
  const parsed = parseSource(join(root, file))
  const spans = [...parsed.text.matchAll(comment)].flatMap(({ 0: text, index: pos }) => {
    const line = parsed.getLineAndCharacterOfPosition(pos).line + 1
    return spansOf(text.replaceAll(/^\s*(?:\*|\/\/)/gm, ''), { pos, line })
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
function isKnownElsewhere(file, name, { names }) {
  const isStrict = file.startsWith('packages/') && /^[a-z][a-zA-Z]*$/.test(name)
  return isStrict ? names.declared.has(name) || names.globals.has(name) : names.names.has(name)
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
  const diagrams = codeBlocks(text).filter(({ language }) => language === '')
  const files = diagrams.flatMap(({ code, line }) =>
    [...code.matchAll(/(?<![\w./-])[\w./-]+\.ts\b/g)].map(({ 0: name, index }) => ({
      pos: 0,
      line: line + code.slice(0, index).split('\n').length,
      text: name,
    })),
  )
  return [...spansOf(withoutBlocks(text), { pos: 0, line: 1 }), ...files]
}

/** @param {string} text @param {{ pos: number, line: number }} start @returns {Span[]} */
function spansOf(text, { pos, line }) {
  const prose = text.replaceAll(/```[\s\S]*?(?:```|$)/g, (block) => block.replaceAll(/[^\n]/g, ''))
  return [...prose.matchAll(/`([^`\n]+(?:\n[^`\n]+)?)`/g)].map(({ index, 1: span = '' }) => ({
    pos,
    line: line + prose.slice(0, index).split('\n').length - 1,
    text: span.replaceAll(/\s+/g, ' ').trim(),
  }))
}

/** @param {string} file @param {Span} span @param {{ known: Known, isKnown: IsKnown }} scope */
function unknownIn(file, { line, text }, scope) {
  const unknown = unknownNames(text, scope).filter((name) => !exceptions.has(name))
  if (unknown.length === 0) return []
  const shown = text === unknown[0] ? `\`${text}\`` : `${[...new Set(unknown)].join(', ')} in \`${text}\``
  const remedy = 'write the name in the code, or one of another program into namesOfOthers of checks/src/mentions.mjs'
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
  return path.test(text) || call.test(text) || object.test(text) ? unknownInCode(text, known.names) : []
}

/** @param {string} text @param {Known['names']} known */
function unknownInCode(text, { names, declared }) {
  const words = object.test(text) ? [] : wordsOf(text)
  const keys = [...text.matchAll(key)].map(([, name = '']) => name)
  return [...words.filter((name) => !names.has(name)), ...keys.filter((name) => !declared.has(name))]
}

/** @param {string} text */
function wordsOf(text) {
  return text.replaceAll(/'[^']*'|"[^"]*"|\.\.\./g, "''").match(/(?<![\w$-])[A-Za-z_$][\w$]*(?![\w$-])/g) ?? []
}
