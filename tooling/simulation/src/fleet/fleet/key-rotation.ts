/** Keys of states and sessions. A rotation replaces the first with the second. */
const [oldKey, newKey] = [
  '790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef',
  'c1f0d7a4b6e95832907c4de1f3ba6658c2d9e07415fa8b36d4270e9c51ab83f6',
]

/**
 * The keys of version 1 and 2 in each phase: each seals with another key, then both with the new one, then it is alone.
 */
const keyPhases: readonly (readonly (readonly string[])[])[] = [
  [
    [oldKey, newKey],
    [newKey, oldKey],
  ],
  [
    [newKey, oldKey],
    [newKey, oldKey],
  ],
  [[newKey], [newKey]],
]

/** The keys that instances start with. */
export interface KeyRotation {
  keysOf(version: number): readonly string[]
  /** Begins the next phase. Returns false if there is none. */
  advance(): boolean
}

/** Starts in the first phase. */
export function createKeyRotation(): KeyRotation {
  let phase = 0
  return {
    keysOf: (version) => keyPhases[phase]?.[version - 1] ?? [],
    advance: () => phase < keyPhases.length - 1 && ++phase > 0,
  }
}
