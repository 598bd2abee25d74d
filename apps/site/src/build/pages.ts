import { dirname, join } from 'node:path/posix'

/** The Markdown files that are no pages. VitePress reads every Markdown file below the root of the repository. */
export const notPages: readonly string[] = [
  'AGENTS.md',
  '.changeset/**',
  '.github/**',
  'tooling/**',
  'packages/*/!(README).md',
  '{packages,apps,examples}/*/*/**',
]

const moved: ReadonlyMap<string, string> = new Map([
  ['README.md', 'index.md'],
  ['docs/README.md', 'docs.md'],
  ['docs/decisions/README.md', 'decisions/index.md'],
  ['CONTRIBUTING.md', 'contributing.md'],
  ['SECURITY.md', 'security-policy.md'],
])
const readme = /^(packages|apps|examples)\/([^/]+)\/README\.md$/
const generated = /^docs\/reference\/(?:.*\/)?@x\/([^/]+?)(?:\/(.+))?\.md$/

/** Returns the place on the site of a file of the repository; undefined for a file that is no page. */
export function pageOf(file: string): string | undefined {
  const known = moved.get(file)
  if (known !== undefined) return known
  const [, kind, name] = readme.exec(file) ?? []
  if (kind !== undefined) return `${kind}/${name}.md`
  const [isGenerated, owner, module] = generated.exec(file) ?? []
  // The main entry of a package is a module beside its other entries.
  if (isGenerated !== undefined) return `reference/${owner}/${module ?? 'main'}.md`
  return file.startsWith('docs/') && file.endsWith('.md') ? file.slice('docs/'.length) : undefined
}

/** Where links of a document lead to: the repository has the files that are no pages. */
export interface LinkTargets {
  /** The address of the repository, without a slash at its end. */
  readonly repository: string
  isFile(file: string): boolean
}

/**
 * Returns the target of a link as the site has it: an absolute path of a page with `.md`, or a URL of the repository.
 * Links to other sites and to headings of the same page stay as they are.
 */
export function linkOnSite(from: string, target: string, { repository, isFile }: LinkTargets): string {
  const blob = `${repository}/blob/main/`
  const isOwn = target.startsWith(blob)
  if (target.startsWith('#') || (!isOwn && /^([a-z][a-z0-9+.-]*:|\/)/i.test(target))) return target
  const [path = '', anchor] = target.split('#')
  const file = isOwn ? path.slice(blob.length) : join(dirname(from), decodeURIComponent(path))
  const page = isFile(file) ? pageOf(file) : undefined
  const end = anchor === undefined ? '' : `#${anchor}`
  return page === undefined ? `${blob}${file}${end}` : `/${page}${end}`
}
