import { extname } from 'node:path'

/** An editor writes a file in several steps, which count as one change. */
const settleMs = 60

/**
 * Calls a function after changes in the folders. Dependencies, hidden files and files that only editors read are no
 * changes. In folders that the user has named, every other file counts; elsewhere only code and pages do, because the
 * server may write the rest itself. The returned function ends it.
 */
export async function watchFiles(
  { folders, isNamed }: { readonly folders: readonly string[]; readonly isNamed: boolean },
  onChange: (path: string) => void,
): Promise<() => Promise<void>> {
  // Loaded here, because no other command needs it.
  const { watch } = await import('chokidar')
  const watcher = watch([...folders], { ignoreInitial: true, ignored: (path) => isIgnored(path, folders) })
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', (_event, path) => {
    if (!isNamed && !/\.([cm]?[jt]sx?|py|html|css)$/.test(path)) return
    clearTimeout(timer)
    timer = setTimeout(() => onChange(path), settleMs)
  })
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}

const ignoredExtensions: ReadonlySet<string> = new Set(['.map', '.md', '.log', '.tsbuildinfo', '.swp', '.tmp'])

function isIgnored(path: string, folders: readonly string[]): boolean {
  const root = folders.find((folder) => path.startsWith(folder)) ?? ''
  const parts = path.slice(root.length).split(/[\\/]/)
  return parts.some((part) => part.startsWith('.') || part === 'node_modules') || ignoredExtensions.has(extname(path))
}
