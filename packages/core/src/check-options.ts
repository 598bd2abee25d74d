/**
 * The names of the options that an object may have. Callers write `satisfies Record<keyof Options, true>`, so that the
 * compiler finds a missing name.
 */
export type KnownOptions = Readonly<Record<string, true>>

/** The present names of options, by a name that the option had earlier or has in another library. */
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
 * Throws a TypeError for options that are no object, and for an option that does not exist. The message suggests the
 * option that was probably meant. The compiler finds such mistakes only in TypeScript. In JavaScript an ignored option
 * may leave a server open to every caller.
 *
 * @example
 * checkOptions(options, knownOptions, 'serveHttp') // serveHttp has no option `principal`: did you mean `auth`?
 */
export function checkOptions(options: object, knownOptions: KnownOptions, where: string): void {
  const problem = findOptionsProblem(options, knownOptions, where)
  if (problem !== undefined) throw new TypeError(problem)
}

/**
 * Returns a message about options that are no object, or about the first option that does not exist. Returns undefined
 * when there is no problem.
 */
export function findOptionsProblem(options: unknown, knownOptions: KnownOptions, where: string): string | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return `${where} takes an object of options, and was given ${describeGiven(options)}`
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(knownOptions, name)) continue
    return `${where} has no option \`${name}\`: ${adviceFor(name, Object.keys(knownOptions))}`
  }
  return undefined
}

/** Describes a value without its content, which may be a key. */
function describeGiven(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
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
  // Names of which more than a third of the letters differ are not misspellings of each other.
  let leastDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const knownName of knownNames) {
    // A name may be written without its unit, the last two letters.
    const spellings = [knownName, knownName.replace(/Ms$/, '')]
    const distance = Math.min(...spellings.map((spelling) => editDistance(lowerCaseName, spelling.toLowerCase())))
    if (distance >= leastDistance) continue
    leastDistance = distance
    closestName = knownName
  }
  return closestName
}

/** Returns the number of letters to insert, delete or replace to turn one text into the other (Levenshtein). */
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
