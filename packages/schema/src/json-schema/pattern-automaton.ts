import { type CodePoints, type PatternNode, UnboundedPatternError } from './pattern-parser.ts'

/** A place in a regular expression that takes one character. */
export interface Position {
  readonly codePoints: CodePoints
  /** The positions that may come next, one for each way there. */
  readonly nextPositions: number[]
  /** The highest number of repetitions of a position that repeats on its own. */
  readonly maxRepeats: number
}

/**
 * The positions of a regular expression (Glushkov's construction), with as many ways between them as a backtracking
 * matcher has.
 */
export interface Automaton {
  readonly positions: readonly Position[]
  /** The look-aheads and look-behinds within it, which are matched on their own. */
  readonly lookarounds: readonly (PatternNode & { readonly kind: 'look' })[]
}

/**
 * A part of the expression, with the positions at which it can begin and end. `emptyMatchCount` is the number of ways in
 * which it matches the empty string: 0, 1, or 2 for several.
 */
interface AutomatonPart {
  readonly emptyMatchCount: number
  readonly startPositions: readonly number[]
  readonly endPositions: readonly number[]
}

const emptyPart: AutomatonPart = { emptyMatchCount: 1, startPositions: [], endPositions: [] }
const maxTransitions = 20_000

/**
 * Builds the automaton. The position 0 is before the expression: it repeats where a match may begin anywhere. Counted
 * repetitions become loops, which have all of their ways and more.
 *
 * @throws UnboundedPatternError where there are too many ways, or ways that an automaton does not distinguish.
 */
export function buildAutomaton(
  root: PatternNode,
  options: { readonly hasAnchor: boolean; readonly isBackward: boolean },
): Automaton {
  const positions: Position[] = [{ codePoints: [0, 0x10ffff], nextPositions: [], maxRepeats: Infinity }]
  const lookarounds: Automaton['lookarounds'][number][] = []
  let transitionCount = 0

  function connect(sources: readonly number[], targets: readonly number[]): void {
    transitionCount += sources.length * targets.length
    if (transitionCount > maxTransitions) throw new UnboundedPatternError('is too complex')
    for (const position of sources) positions[position]?.nextPositions.push(...targets)
  }

  function joinParts(before: AutomatonPart, after: AutomatonPart): AutomatonPart {
    connect(before.endPositions, after.startPositions)
    const startPositions = [before.startPositions, ...repeat(after.startPositions, before.emptyMatchCount)].flat()
    const endPositions = [after.endPositions, ...repeat(before.endPositions, after.emptyMatchCount)].flat()
    if (startPositions.length + endPositions.length > maxTransitions) throw new UnboundedPatternError('is too complex')
    const emptyMatchCount = Math.min(2, before.emptyMatchCount * after.emptyMatchCount)
    return { emptyMatchCount, startPositions, endPositions }
  }

  function addRepeat({ body, min, max }: PatternNode & { readonly kind: 'repeat' }): AutomatonPart {
    if (max === 0) return emptyPart
    const part = addNode(body, max)
    if (max > 1) {
      if (part.emptyMatchCount > 0 && min > 1) throw new UnboundedPatternError('repeats what may be empty')
      connect(part.endPositions, part.startPositions)
    }
    return min === 0 ? { ...part, emptyMatchCount: Math.min(2, part.emptyMatchCount + 1) } : part
  }

  function addNode(node: PatternNode, maxRepeats = 1): AutomatonPart {
    switch (node.kind) {
      case 'set':
        positions.push({ codePoints: node.codePoints, nextPositions: [], maxRepeats })
        return { emptyMatchCount: 0, startPositions: [positions.length - 1], endPositions: [positions.length - 1] }
      case 'look':
        lookarounds.push(node)
        return emptyPart
      case 'sequence': {
        const parts = options.isBackward ? node.parts.toReversed() : node.parts
        return parts.map((part) => addNode(part)).reduce(joinParts, emptyPart)
      }
      case 'choice': {
        const parts = node.parts.map((part) => addNode(part))
        const emptyMatchCount = parts.reduce((sum, part) => sum + part.emptyMatchCount, 0)
        return {
          emptyMatchCount: Math.min(2, emptyMatchCount),
          startPositions: parts.flatMap((part) => part.startPositions),
          endPositions: parts.flatMap((part) => part.endPositions),
        }
      }
      case 'repeat':
        return addRepeat(node)
      default:
        return emptyPart
    }
  }

  connect([0], addNode(root).startPositions)
  if (!options.hasAnchor) connect([0], [0])
  return { positions, lookarounds }
}

function repeat<T>(item: T, count: number): T[] {
  return Array.from({ length: count }, () => item)
}
