import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { limitTableProblems } from './limit-tables.mjs'
import { anchors, codeBlocks, links, region } from './markdown.mjs'
import { withImports } from './shown-imports.mjs'
import { problem } from './report.mjs'
import { checkTroubleshooting } from './troubleshooting.mjs'
import { listFiles, listPackages, readText } from './workspace.mjs'

const typescriptNames = new Set(['ts', 'tsx', 'mts', 'typescript'])
const checked =
  /^(README|CONTRIBUTING|SECURITY|AGENTS)\.md$|^(packages|apps|tooling)\/[^/]+\/README\.md$|^packages\/server\/skills\/.*\.md$|^docs\/(?!reference\/).*\.md$/

const guide = /^docs\/guides\//
const published = /^packages\/[^/]+\/(README|skills\/.+)\.md$/
const index = 'docs/README.md'
// The decisions and the seeds have indexes of their own.
const page = /^docs\/(?!README\.md$|reference\/|decisions\/|seeds\/(?!README\.md$)).*\.md$/
const audience = /^# .+\n\n_For [^_]+\._\n/

/**
 * Checks that the TypeScript of documents comes from files, that their links have targets, that pages name their
 * audience and are listed, and that the README of each package has an install command. With `--write`, blocks are
 * updated from their files.
 * @param {string} root
 * @param {readonly string[]} flags
 */
export function checkDocs(root, flags = []) {
  const documents = listFiles(root).filter((file) => checked.test(file))
  const writes = flags.includes('--write')
  if (writes) for (const file of documents) refresh(root, file)
  return [
    ...documents.flatMap((file) => [...blockProblems(root, file), ...linkProblems(root, file)]),
    ...pageProblems(root, documents),
    ...listPackages(root).flatMap(readmeProblems),
    ...checkTroubleshooting(root),
    ...limitTableProblems(root, writes),
  ]
}

/** @param {string} root @param {string} file */
function blockProblems(root, file) {
  return codeBlocks(readText(root, file)).flatMap((block) => {
    const where = `${file}:${block.line}`
    if (block.marker === undefined) {
      if (!typescriptNames.has(block.language)) return []
      const remedy =
        'move the code to a file that is type-checked, and write <!-- file: path#region --> above the block'
      return [problem(`${where} has TypeScript that no file contains`, remedy)]
    }
    const source = sourceOfBlock(root, file, block.marker)
    if (source === undefined) {
      return [problem(`${where} names ${block.marker}, which does not exist`, 'name a file, or one of its #regions')]
    }
    return source === block.code ? [] : [problem(`${where} differs from ${block.marker}`, 'run pnpm docs:write')]
  })
}

/**
 * Reads the target of a marker: a file (relative to the document), and optionally one region of it. In a guide, a
 * region also has the imports from packages that it uses.
 * @param {string} root
 * @param {string} file
 * @param {string} marker
 */
function sourceOfBlock(root, file, marker) {
  const [path = '', name] = marker.split('#')
  const source = join(dirname(file), path)
  if (!existsSync(join(root, source))) return undefined
  const shown = region(readText(root, source), name)
  const isShortened = shown !== undefined && guide.test(file) && source.endsWith('.ts')
  return isShortened ? withImports(shown, join(root, source)) : shown
}

/** @param {string} root @param {string} file */
function refresh(root, file) {
  const text = readText(root, file)
  const lines = text.split('\n')
  for (const block of codeBlocks(text).toReversed()) {
    const source = block.marker === undefined ? undefined : sourceOfBlock(root, file, block.marker)
    if (source !== undefined) lines.splice(block.first, block.last - block.first, ...source.split('\n'))
  }
  const written = lines.join('\n')
  if (written !== text) writeFileSync(join(root, file), written)
}

/** @param {string} root @param {string} file */
function linkProblems(root, file) {
  const online = `${JSON.parse(readText(root, 'package.json') || '{}').homepage}/blob/main/`
  return links(readText(root, file)).flatMap(({ target, line }) => {
    const remedy = linkRemedy(root, file, { target, online })
    return remedy === undefined ? [] : [problem(`${file}:${line} links to ${target}`, remedy)]
  })
}

/**
 * @param {string} root
 * @param {string} file
 * @param {{ target: string, online: string }} link `online` is where links of a published README begin.
 * @returns {string | undefined} Nothing for a valid link.
 */
function linkRemedy(root, file, { target, online }) {
  if (target.startsWith(online)) return targetRemedy(root, target.slice(online.length))
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined
  if (target.startsWith('#')) return targetRemedy(root, `${file}${target}`)
  if (published.test(file)) return `write ${online}…: a relative link does not work on the page of the registry`
  return targetRemedy(root, join(dirname(file), target))
}

/** @param {string} root @param {string} target @returns {string | undefined} */
function targetRemedy(root, target) {
  const [path = '', anchor] = target.split('#')
  const linked = decodeURIComponent(path)
  if (!existsSync(join(root, linked))) return 'the file does not exist: correct the link'
  if (anchor === undefined || !linked.endsWith('.md')) return undefined
  return anchors(readText(root, linked)).has(anchor) ? undefined : 'the heading does not exist: correct the link'
}

/** The site generates its menus from the index. @param {string} root @param {readonly string[]} documents */
function pageProblems(root, documents) {
  const listed = new Set(links(readText(root, index)).map(({ target }) => join(dirname(index), target)))
  return documents
    .filter((file) => page.test(file))
    .flatMap((file) => {
      const named = problem(`${file} does not name its audience`, 'write "_For <readers>._" below its title')
      const row = problem(`${file} is not listed in ${index}`, `add a row that links to ${relative('docs', file)}`)
      return [...(audience.test(readText(root, file)) ? [] : [named]), ...(listed.has(file) ? [] : [row])]
    })
}

/** @param {import('./workspace.mjs').Package} one */
function readmeProblems({ name, folder, directory }) {
  const file = `${folder}/README.md`
  const text = readText(directory, 'README.md')
  if (text === '') return [problem(`${file} does not exist`, 'begin it with one sentence and one program')]
  const installed = text.match(/^npm install .*/gm)?.flatMap((line) => line.split(' '))
  if (installed?.includes(name)) return []
  const advice = `write "npm install ${name}" below the program, with the other packages that the program imports`
  return [problem(`${file} has no install command for ${name}`, advice)]
}
