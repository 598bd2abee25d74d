import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { limitTableProblems } from './limit-tables.mjs'
import { anchors, codeBlocks, links, region } from './markdown.mjs'
import { withImports } from './shown-imports.mjs'
import { problem } from './report.mjs'
import { checkTroubleshooting } from './troubleshooting.mjs'
import { listFiles, listPackages } from './workspace.mjs'

const typescriptNames = new Set(['ts', 'tsx', 'mts', 'typescript'])
const checked =
  /^(README|CONTRIBUTING|SECURITY|AGENTS)\.md$|^(packages|apps|tooling)\/[^/]+\/README\.md$|^packages\/server\/skills\/.*\.md$|^docs\/(?!reference\/).*\.md$/

const guide = /^docs\/guides\//
const published = /^packages\/[^/]+\/(README|skills\/.+)\.md$/

/**
 * Checks that the TypeScript of documents comes from files, that their links have targets, and that the README of each
 * package has an install command. With `--write`, blocks are updated from their files.
 * @param {string} root
 * @param {readonly string[]} flags
 */
export function checkDocs(root, flags = []) {
  const documents = listFiles(root).filter((file) => checked.test(file))
  const writes = flags.includes('--write')
  if (writes) for (const file of documents) refresh(root, file)
  return [
    ...documents.flatMap((file) => [...blockProblems(root, file), ...linkProblems(root, file)]),
    ...listPackages(root).flatMap(readmeProblems),
    ...checkTroubleshooting(root),
    ...limitTableProblems(root, writes),
  ]
}

/** @param {string} root @param {string} file */
function blockProblems(root, file) {
  return codeBlocks(readFileSync(join(root, file), 'utf8')).flatMap((block) => {
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
  const source = join(root, dirname(file), path)
  if (!existsSync(source)) return undefined
  const text = readFileSync(source, 'utf8')
  const shown = region(text, name)
  return shown === undefined || !guide.test(file) || !source.endsWith('.ts') ? shown : withImports(shown, source)
}

/** @param {string} root @param {string} file */
function refresh(root, file) {
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  const lines = text.split('\n')
  for (const block of codeBlocks(text).toReversed()) {
    const source = block.marker === undefined ? undefined : sourceOfBlock(root, file, block.marker)
    if (source !== undefined) lines.splice(block.first, block.last - block.first, ...source.split('\n'))
  }
  const written = lines.join('\n')
  if (written !== text) writeFileSync(path, written)
}

/** @param {string} root @param {string} file */
function linkProblems(root, file) {
  const online = `${homepage(root)}/blob/main/`
  return links(readFileSync(join(root, file), 'utf8')).flatMap(({ target, line }) => {
    const remedy = linkRemedy(root, file, { target, online })
    return remedy === undefined ? [] : [problem(`${file}:${line} links to ${target}`, remedy)]
  })
}

/**
 * @param {string} root
 * @param {string} file
 * @param {{ target: string, online: string }} link
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
  const linked = join(root, decodeURIComponent(path))
  if (!existsSync(linked)) return 'the file does not exist: correct the link'
  if (anchor === undefined || !linked.endsWith('.md')) return undefined
  return anchors(readFileSync(linked, 'utf8')).has(anchor) ? undefined : 'the heading does not exist: correct the link'
}

/**
 * Returns the URL of the repository, with which links of published READMEs begin.
 * @param {string} root
 * @returns {string}
 */
function homepage(root) {
  const path = join(root, 'package.json')
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).homepage : ''
}

/** @param {import('./workspace.mjs').Package} one */
function readmeProblems(one) {
  const file = `${one.folder}/README.md`
  const path = join(one.directory, 'README.md')
  if (!existsSync(path)) return [problem(`${file} does not exist`, 'begin it with one sentence and one program')]
  const text = readFileSync(path, 'utf8')
  const installed = text.match(/^npm install .*/gm)?.flatMap((line) => line.split(' '))
  if (installed?.includes(one.name)) return []
  const advice = `write "npm install ${one.name}" below the program, with the other packages that the program imports`
  return [problem(`${file} has no install command for ${one.name}`, advice)]
}
