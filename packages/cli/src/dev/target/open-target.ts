import type { EventLog } from '../event-log.ts'
import type { Wire } from '../wire/wire.ts'
import { parseDevTarget, watchedFolders } from './dev-target.ts'
import { Target, type DevTargetOptions } from './target.ts'
import { watchFiles } from './watch-files.ts'

interface OpenTargetOptions extends Pick<DevTargetOptions, 'env' | 'http'>, Partial<Pick<DevTargetOptions, 'fleet'>> {
  readonly target: string
  readonly watch?: readonly string[]
  readonly cwd?: string
  readonly instances?: number
  readonly otherToken?: string | undefined
}

/**
 * Its files are not watched yet: `watch` begins that, and resolves with a function that ends it. Throws for options that
 * name no target.
 */
export function openTarget(
  options: OpenTargetOptions,
  log: EventLog,
  wire: Wire,
): { readonly target: Target; watch(): Promise<() => Promise<void>> } {
  const { cwd = process.cwd(), instances = 2, otherToken, env, http, fleet } = options
  const target = parseDevTarget(options.target, cwd)
  const watched = watchedFolders(target, options.watch ?? [], cwd)
  const files = { folders: watched, isNamed: options.watch !== undefined }
  const instanceCount = target.kind === 'module' ? instances : 1
  wire.setServer({ hasProcess: target.kind !== 'url' || fleet !== undefined, isHttp: target.kind !== 'command' })
  const opened = new Target({ target, fleet, instanceCount, watched, env, cwd, log, wire, http, otherToken })
  return {
    target: opened,
    watch: async () => (watched.length === 0 ? async () => {} : watchFiles(files, () => opened.restart())),
  }
}
