/** The names of the options that an object may have. `satisfies Record<keyof Options, true>` keeps them complete. */
export type KnownOptions = Readonly<Record<string, true>>

/** Names that an option had in an earlier design or has in another library, with the present one. */
const presentNames = new Map([
  ['principal', 'auth'],
  ['authenticate', 'auth'],
  ['documents', 'auth'],
  ['toHttpError', 'auth'],
  ['cors', 'allowedOrigins'],
  ['bounds', 'maxBodyBytes'],
  ['maxCallsPerCaller', 'limits.calls'],
  ['maxTasksPerCaller', 'limits.tasks'],
  ['codec', 'state'],
  ['credentials', 'state'],
  ['stateCodec', 'state'],
  ['clock', 'runtime'],
  ['middleware', 'use'],
])

/**
 * Throws a TypeError for an option that does not exist, and suggests the one that was meant. Types find such a mistake
 * in TypeScript. In JavaScript an option that is ignored may leave a server open to every caller.
 *
 * @example
 * checkOptions(options, knownOptions, 'serveHttp') // serveHttp has no option `principal`: did you mean `auth`?
 */
export function checkOptions(options: object | undefined, knownOptions: KnownOptions, where: string): void {
  const problem = findUnknownOption(options, knownOptions, where)
  if (problem !== undefined) throw new TypeError(problem)
}

/** Returns a message about the first option that does not exist. An option that is undefined counts as absent. */
export function findUnknownOption(
  options: object | undefined,
  knownOptions: KnownOptions,
  where: string,
): string | undefined {
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value === undefined || Object.hasOwn(knownOptions, name)) continue
    return `${where} has no option \`${name}\`: ${adviceFor(name, Object.keys(knownOptions))}`
  }
  return undefined
}

function adviceFor(name: string, knownNames: readonly string[]): string {
  const presentName = presentNames.get(name)
  const suggestedName = knownNames.includes(presentName?.split('.')[0] ?? '')
    ? presentName
    : findClosestName(name, knownNames)
  return suggestedName === undefined
    ? `write one of ${knownNames.toSorted().join(', ')}`
    : `did you mean \`${suggestedName}\`?`
}

function findClosestName(name: string, knownNames: readonly string[]): string | undefined {
  const lowerCaseName = name.toLowerCase()
  let closestName: string | undefined
  // Names that differ in more than a third of their letters are not spellings of each other.
  let leastDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const knownName of knownNames) {
    // A time without its unit is another spelling.
    const spellings = [knownName, knownName.replace(/Ms$/, '')]
    const distance = Math.min(...spellings.map((spelling) => editDistance(lowerCaseName, spelling.toLowerCase())))
    if (distance >= leastDistance) continue
    leastDistance = distance
    closestName = knownName
  }
  return closestName
}

/** Returns the number of letters to insert, delete or replace (Levenshtein). */
function editDistance(from: string, to: string): number {
  let previousRow = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...from].entries()) {
    const currentRow = [row + 1]
    for (const [column, otherLetter] of [...to].entries()) {
      const replaced = (previousRow[column] ?? 0) + (letter === otherLetter ? 0 : 1)
      currentRow.push(Math.min(replaced, (previousRow[column + 1] ?? 0) + 1, (currentRow[column] ?? 0) + 1))
    }
    previousRow = currentRow
  }
  return previousRow[to.length] ?? 0
}
