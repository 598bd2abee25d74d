/** The side of the protocol that a run tests. */
export type Leg = 'server' | 'client'

/** The scenarios of one revision and one leg: the scored ones, and those that are only reported. */
export interface Requirements {
  readonly scored: readonly string[]
  readonly others: readonly string[]
}

const headings: readonly (readonly [string, Leg | 'others'])[] = [
  ['Server scenarios', 'server'],
  ['Client scenarios', 'client'],
  ['Run and reported', 'others'],
]

/**
 * Parses the output of `conformance list --requirements <revision>`.
 *
 * @throws Error if the listing has no scored scenario for the leg, because an empty run passes.
 */
export function readRequirements(listing: string, leg: Leg): Requirements {
  const scored: string[] = []
  const others: string[] = []
  let section: Leg | 'others' | undefined
  for (const line of listing.split('\n')) {
    const heading = headings.find(([start]) => line.startsWith(start))
    if (heading !== undefined) section = heading[1]
    const entry = /^ {2,}- (\S+)(?: \[(server|client)\])?$/.exec(line)
    if (entry?.[1] === undefined) continue
    if (section === leg) scored.push(entry[1])
    if (section === 'others' && entry[2] === leg) others.push(entry[1])
  }
  if (scored.length === 0) throw new Error(`the suite lists no ${leg} scenario; it printed:\n${listing}`)
  return { scored, others }
}

/**
 * Selects scenarios by name. Without names it returns all of them.
 *
 * @throws Error with the known names if a name is unknown.
 */
export function selectScenarios(requirements: Requirements, names: readonly string[]): Requirements {
  if (names.length === 0) return requirements
  const known = [...requirements.scored, ...requirements.others]
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`unknown scenario ${unknown.join(', ')}; known are:\n  ${known.join('\n  ')}`)
  return {
    scored: requirements.scored.filter((name) => names.includes(name)),
    others: requirements.others.filter((name) => names.includes(name)),
  }
}
