const posix = 'HOME LANG LC_ALL LOGNAME PATH SHELL TERM TMPDIR TZ USER'.split(' ')
const windows =
  `APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA
  PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT TEMP TMP USERDOMAIN USERNAME USERPROFILE WINDIR`.split(/\s+/)

/**
 * The variables of a server's process: what programs need to find themselves and their user, and what is added. The rest of
 * ours may hold secrets that are none of the server's business.
 */
export function environmentOf(
  added: Readonly<Record<string, string | undefined>>,
  { env, platform }: Pick<NodeJS.Process, 'env' | 'platform'> = process,
): Record<string, string> {
  // Windows looks names up in any case, and would take either of two that differ in it alone.
  const keyOf = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const wanted = new Set(platform === 'win32' ? windows : posix)
  const variables = new Map<string, readonly [name: string, value: string | undefined]>()
  for (const [name, value] of Object.entries(env)) {
    if (wanted.has(keyOf(name))) variables.set(keyOf(name), [name, value])
  }
  for (const [name, value] of Object.entries(added)) variables.set(keyOf(name), [name, value])
  const known = [...variables.values()].filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(known)
}
