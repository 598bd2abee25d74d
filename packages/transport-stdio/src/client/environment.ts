const posixVariables = 'HOME LANG LC_ALL LOGNAME PATH SHELL TERM TMPDIR TZ USER'.split(' ')
const windowsVariables =
  `APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA
  PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT TEMP TMP USERDOMAIN USERNAME USERPROFILE WINDIR`.split(/\s+/)

/**
 * Creates the variables of a server's process: those that programs need to find themselves and their user, and the
 * added ones. Other variables of this process may hold secrets, so they are left out.
 */
export function createEnvironment(
  addedVariables: Readonly<Record<string, string | undefined>>,
  { env, platform }: Pick<NodeJS.Process, 'env' | 'platform'> = process,
): Record<string, string> {
  // On Windows, names are case-insensitive, and either of two names that differ in case alone could win.
  const keyOf = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const inheritedNames = new Set(platform === 'win32' ? windowsVariables : posixVariables)
  const variables = new Map<string, readonly [name: string, value: string | undefined]>()
  for (const [name, value] of Object.entries(env)) {
    if (inheritedNames.has(keyOf(name))) variables.set(keyOf(name), [name, value])
  }
  for (const [name, value] of Object.entries(addedVariables)) variables.set(keyOf(name), [name, value])
  const definedVariables = [...variables.values()].filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(definedVariables)
}
