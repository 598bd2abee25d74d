import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LinkTargets, linkOnSite } from './pages.ts'

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../../..', import.meta.url))
const { homepage } = JSON.parse(readDocument('package.json')) as { readonly homepage: string }

export const repository: LinkTargets['repository'] = homepage
const targets: LinkTargets = {
  repository: homepage,
  isFile: (file) => existsSync(join(root, file)) && statSync(join(root, file)).isFile(),
}

/** Returns the path in the repository of an absolute path. */
export function fileOf(path: string): string {
  return relative(root, path).split(sep).join('/')
}

export function readDocument(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** Returns where a link in a file of the repository leads on the site. */
export function resolveLink(from: string, target: string): string {
  return linkOnSite(from, target, targets)
}

/**
 * Returns a document as the site serves it in Markdown: its links lead to the Markdown of other pages, and the comments
 * that name the sources of its programs are gone.
 */
export function portableMarkdown(file: string): string {
  const parts = readDocument(file).split(/^(```[\s\S]*?^```)$/m)
  return parts
    .map((part, index) => (index % 2 === 1 ? part : withLinks(file, part)))
    .join('')
    .replaceAll(/^ *<!-- file: .* -->\n/gm, '')
}

function withLinks(file: string, text: string): string {
  return text.replaceAll(/\]\(([^)\s]+)\)/g, (_, target: string) => `](${resolveLink(file, target)})`)
}
