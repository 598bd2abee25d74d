import type { ChangeBus } from '@x/core'

/** A row as a driver gives it, by column. */
export type SqlRow = Readonly<Record<string, unknown>>

/**
 * Sends SQL with values for `$1`, `$2`, …. A text without values may be several statements. Gives the rows of all of
 * them.
 */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>

/** The part of PostgreSQL that an engine needs, over a network or in the process. */
export interface SqlDatabase {
  /** One statement, which is its own transaction. */
  readonly query: Query
  /** Several statements at a time, or one that may take long: what installs and tends tables. */
  readonly maintenanceQuery: Query
  /** Commits what was done when `work` resolves, and nothing when it rejects. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** Notifies the other instances of the same database. */
  readonly bus: ChangeBus
  close(): Promise<void>
}

/**
 * Loads a package that not every user needs. Rejects with what to install when it is missing. `packageSpec` is what to
 * install.
 */
export async function importPeerDependency<T>(packageSpec: string, importModule: () => Promise<T>): Promise<T> {
  try {
    return await importModule()
  } catch (cause) {
    const name = packageSpec.slice(0, packageSpec.lastIndexOf('@'))
    if (!isMissingModule(cause, name)) throw cause
    throw new Error(`This engine needs the package ${name}, which is not installed: npm install ${packageSpec}`, {
      cause,
    })
  }
}

/** A package that is there and lacks one of its own is another mistake. */
function isMissingModule(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(`'${name}'`)
}
