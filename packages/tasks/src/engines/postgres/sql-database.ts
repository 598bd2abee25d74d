import type { ChangeBus } from '@x/core'

/** A row of a driver, by column. */
export type SqlRow = Readonly<Record<string, unknown>>

/**
 * Sends SQL with values for `$1`, `$2`, …, or several statements without values. Resolves with the rows of all.
 */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>

/** The part of PostgreSQL that an engine needs, over a network or in the process. */
export interface SqlDatabase {
  /** Runs one statement, in a transaction of its own. */
  readonly query: Query
  /** Commits when `work` resolves, and rolls back when it rejects. Maintenance has a longer time limit. */
  transaction<T>(work: (query: Query) => Promise<T>, options?: { readonly isMaintenance?: boolean }): Promise<T>
  /** Notifies the instances that use the same database. */
  readonly bus: ChangeBus
  close(): Promise<void>
}

/** Loads an optional package. Rejects with the command that installs it when it is missing. */
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

/** Returns true when this package is missing, and not one that it depends on. */
function isMissingModule(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(`'${name}'`)
}
