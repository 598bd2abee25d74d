import { type CodePoints, type PatternNode, UnboundedPatternError } from './pattern-parser.ts'

/** A place in a regular expression that takes one character. */
export interface Position {
  readonly points: CodePoints
  /** The positions that may come next, one for each way there. */
  readonly next: number[]
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

/** A part of the expression: the ways through it that take nothing, 2 for several, and where it begins and ends. */
interface AutomatonPart {
  readonly emptyCount: number
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

const emptyPart: AutomatonPart = { emptyCount: 1, starts: [], ends: [] }
const maxTransitions = 20_000

/**
 * Builds the automaton. The position 0 is before the expression: it repeats where a match may begin anywhere. Counted
 * repetitions become loops, which have all of their ways and more.
 *
 * @throws UnboundedPattern where there are too many ways, or ways that an automaton does not tell apart.
 */
export function buildAutomaton(
  root: PatternNode,
  options: { readonly hasAnchor: boolean; readonly isBackward: boolean },
): Automaton {
  const positions: Position[] = [{ points: [0, 0x10ffff], next: [], maxRepeats: Infinity }]
  const lookarounds: Automaton['lookarounds'][number][] = []
  let transitionCount = 0

  function connect(from: readonly number[], to: readonly number[]): void {
    transitionCount += from.length * to.length
    if (transitionCount > maxTransitions) throw new UnboundedPatternError('is too complex')
    for (const position of from) positions[position]?.next.push(...to)
  }

  function joinParts(before: AutomatonPart, after: AutomatonPart): AutomatonPart {
    connect(before.ends, after.starts)
    const starts = before.starts.concat(...Array.from({ length: before.emptyCount }, () => after.starts))
    const ends = after.ends.concat(...Array.from({ length: after.emptyCount }, () => before.ends))
    if (starts.length + ends.length > maxTransitions) throw new UnboundedPatternError('is too complex')
    return { emptyCount: Math.min(2, before.emptyCount * after.emptyCount), starts, ends }
  }

  function addRepeat({ body, min, max }: PatternNode & { readonly kind: 'repeat' }): AutomatonPart {
    if (max === 0) return emptyPart
    const part = addNode(body, max)
    if (max > 1) {
      if (part.emptyCount > 0 && min > 1) throw new UnboundedPatternError('repeats what may be empty')
      connect(part.ends, part.starts)
    }
    return min === 0 ? { ...part, emptyCount: Math.min(2, part.emptyCount + 1) } : part
  }

  function addNode(node: PatternNode, maxRepeats = 1): AutomatonPart {
    switch (node.kind) {
      case 'set':
        positions.push({ points: node.points, next: [], maxRepeats })
        return { emptyCount: 0, starts: [positions.length - 1], ends: [positions.length - 1] }
      case 'look':
        lookarounds.push(node)
        return emptyPart
      case 'sequence': {
        const parts = options.isBackward ? node.parts.toReversed() : node.parts
        return parts.map((part) => addNode(part)).reduce(joinParts, emptyPart)
      }
      case 'choice': {
        const parts = node.parts.map((part) => addNode(part))
        const emptyCount = parts.reduce((sum, part) => sum + part.emptyCount, 0)
        return {
          emptyCount: Math.min(2, emptyCount),
          starts: parts.flatMap(({ starts }) => starts),
          ends: parts.flatMap(({ ends }) => ends),
        }
      }
      case 'repeat':
        return addRepeat(node)
      default:
        return emptyPart
    }
  }

  const rootPart = addNode(root)
  connect([0], rootPart.starts)
  if (!options.hasAnchor) connect([0], [0])
  return { positions, lookarounds }
}
