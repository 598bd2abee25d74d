import { codeOf } from './thrown.ts'

/**
 * Loads an optional package. If it is missing, rejects with an error that says what needs it, has the command to
 * install it, and the code of Node for a missing module. That error has neither frames nor a cause: its message says
 * everything, and no frame is in the author's code.
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

/** True for an error that only installing a package can mend, and no later call. */
export function isMissingModuleError(error: unknown): error is Error {
  return codeOf(error) === missingModuleCode
}

/** False if only a dependency of the package is missing. */
function isMissingModule(error: unknown, name: string): boolean {
  return isMissingModuleError(error) && error.message.includes(`'${name}'`)
}
