import { quoteText } from './quote-text.ts'

/** Words that people write for a shortened name, or short for a word. Their letters alone are far from it. */
const otherSpellings: ReadonlyMap<string, readonly string[]> = new Map([
  ['args', ['arguments']],
  ['command', ['cmd']],
  ['cwd', ['workingDir', 'workingDirectory']],
  ['env', ['environment']],
])

/** Finds the name that was probably meant by an unknown one. `spellingsOf` has other words for a known name. */
export function findClosestName(
  name: string,
  knownNames: readonly string[],
  spellingsOf?: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  const lowerCaseName = name.toLowerCase()
  let closestName: string | undefined
  // Names of which more than a third of the letters differ are not misspellings of each other.
  let leastDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const knownName of knownNames) {
    // A name may be written without its unit, the last two letters.
    const spellings = [knownName, knownName.replace(/Ms$/, ''), ...(spellingsOf?.get(knownName) ?? [])]
    const distance = Math.min(...spellings.map((spelling) => editDistance(lowerCaseName, spelling.toLowerCase())))
    if (distance >= leastDistance) continue
    leastDistance = distance
    closestName = knownName
  }
  return closestName
}

/**
 * Returns the number of letters to insert, delete, replace or swap with the next one to turn one text into the other
 * (Levenshtein, with the transpositions of Damerau).
 */
function editDistance(from: string, to: string): number {
  const rows: number[][] = []
  /** The distance between the beginnings of both texts up to these letters. */
  const at = (row: number, column: number): number => (row < 0 ? column + 1 : (rows[row]?.[column] ?? row + 1))
  for (let row = 0; row < from.length; row += 1) {
    const distances: number[] = []
    rows.push(distances)
    for (let column = 0; column < to.length; column += 1) {
      const replaced = at(row - 1, column - 1) + (from[row] === to[column] ? 0 : 1)
      const isSwap = row > 0 && from[row] === to[column - 1] && from[row - 1] === to[column]
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : replaced
      distances.push(Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1))
    }
  }
  return at(from.length - 1, to.length - 1)
}

/** Members of other programs that are close to one of ours, and mean something else. */
const foreignNames: ReadonlySet<string> = new Set(['author', 'comment', 'enabledFor', 'client_id', 'client_secret'])

/**
 * Describes the members of an object that are misspelt: unknown ones, each close to a known one that is absent. All
 * other unknown members are ignored, because the object may belong to another program too.
 */
export function findMisspeltMembers(value: object, knownNames: readonly string[]): readonly string[] {
  return Object.keys(value).flatMap((name) => {
    // Some people switch a member off by a sign in front of its name.
    if (knownNames.includes(name) || foreignNames.has(name) || !/^[a-z]/i.test(name)) return []
    const meant = findClosestName(name, knownNames, otherSpellings)
    if (meant === undefined || Object.hasOwn(value, meant)) return []
    return [`${quoteText(name)} is unknown: did you mean ${quoteText(meant)}?`]
  })
}

/**
 * Finds the members of an object that have no effect, because they belong to the other of two kinds, misspelt or not.
 * Programs write some members for both kinds, and leave the useless ones empty.
 */
export function findMisplacedMembers(
  value: object,
  { ownNames, otherNames }: { readonly ownNames: readonly string[]; readonly otherNames: readonly string[] },
): readonly string[] {
  return Object.entries(value).flatMap(([name, given]) => {
    if (ownNames.includes(name) || isEmpty(given) || findMisspeltMembers({ [name]: given }, ownNames).length > 0)
      return []
    const isOther = otherNames.includes(name) || findMisspeltMembers({ [name]: given }, otherNames).length > 0
    return isOther ? [name] : []
  })
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === undefined || value === null || value === '' || value === false
}
