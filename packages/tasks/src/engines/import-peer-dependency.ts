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
