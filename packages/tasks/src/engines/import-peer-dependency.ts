/**
 * Loads a package that not every user needs. Rejects with what to install when it is missing; `named` is what to write
 * then.
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
