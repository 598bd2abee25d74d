/**
 * Loads an optional package. If the package is missing, rejects with an error that says what needs it, contains the
 * command to install it, and has the code of Node for a missing module. The error has neither frames nor a cause: its
 * message says everything, and no frame is in the code of the author.
 */
export async function importPeerDependency<T>(
  packageSpec: string,
  importModule: () => Promise<T>,
  neededBy: string,
): Promise<T> {
  try {
    return await importModule()
  } catch (cause) {
    const name = packageSpec.slice(0, packageSpec.lastIndexOf('@'))
    if (!isMissingModule(cause, name)) throw cause
    const message = `${neededBy} needs the package ${name}, which is not installed: npm install ${packageSpec}`
    throw Object.assign(new Error(message), { code: missingModuleCode, stack: `Error: ${message}` })
  }
}

const missingModuleCode = 'ERR_MODULE_NOT_FOUND'

/** Returns true for an error that only an installation of a package can mend, and not a later call. */
export function isMissingModuleError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === missingModuleCode
}

/** Returns true if this package is missing. Returns false if only one of its dependencies is missing. */
function isMissingModule(error: unknown, name: string): boolean {
  return isMissingModuleError(error) && error.message.includes(`'${name}'`)
}
