import type { ChangeBus } from '@x/core'

/** A row of a result, by the names of the columns. */
export type SqlRow = Readonly<Record<string, unknown>>

/**
 * Runs one SQL statement with values for `$1`, `$2`, …, or several statements without values. Resolves with the rows of
 * all statements.
 */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>

/** The functions of PostgreSQL that an engine needs. The database is on a server, or in this process. */
export interface SqlDatabase {
  /** Runs one statement in its own transaction. */
  readonly query: Query
  /**
   * Runs `work` in a transaction, which is committed when `work` resolves and rolled back when it rejects. Maintenance
   * has a longer time limit.
   */
  transaction<T>(work: (query: Query) => Promise<T>, options?: { readonly isMaintenance?: boolean }): Promise<T>
  /** The bus between the instances that use the same database. */
  readonly bus: ChangeBus
  close(): Promise<void>
}

/**
 * Loads an optional package. If the package is missing, rejects with an error that contains the command to install it.
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

/** Returns true if this package is missing. Returns false if only one of its dependencies is missing. */
function isMissingModule(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(`'${name}'`)
}
