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
  readonly empty: number
  readonly first: readonly number[]
  readonly last: readonly number[]
}

const emptyPart: AutomatonPart = { empty: 1, first: [], last: [] }
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
  const looks: Automaton['lookarounds'][number][] = []
  let transitionCount = 0

  function connect(from: readonly number[], to: readonly number[]): void {
    transitionCount += from.length * to.length
    if (transitionCount > maxTransitions) throw new UnboundedPatternError('is too complex')
    for (const position of from) positions[position]?.next.push(...to)
  }

  function joinParts(before: AutomatonPart, after: AutomatonPart): AutomatonPart {
    connect(before.last, after.first)
    const first = before.first.concat(...Array.from({ length: before.empty }, () => after.first))
    const last = after.last.concat(...Array.from({ length: after.empty }, () => before.last))
    if (first.length + last.length > maxTransitions) throw new UnboundedPatternError('is too complex')
    return { empty: Math.min(2, before.empty * after.empty), first, last }
  }

  function addRepeat({ body, min, max }: PatternNode & { readonly kind: 'repeat' }): AutomatonPart {
    if (max === 0) return emptyPart
    const part = addNode(body, max)
    if (max > 1) {
      if (part.empty > 0 && min > 1) throw new UnboundedPatternError('repeats what may be empty')
      connect(part.last, part.first)
    }
    return min === 0 ? { ...part, empty: Math.min(2, part.empty + 1) } : part
  }

  function addNode(node: PatternNode, maxRepeats = 1): AutomatonPart {
    switch (node.kind) {
      case 'set':
        positions.push({ points: node.points, next: [], maxRepeats })
        return { empty: 0, first: [positions.length - 1], last: [positions.length - 1] }
      case 'look':
        looks.push(node)
        return emptyPart
      case 'sequence': {
        const parts = options.isBackward ? node.parts.toReversed() : node.parts
        return parts.map((part) => addNode(part)).reduce(joinParts, emptyPart)
      }
      case 'choice': {
        const parts = node.parts.map((part) => addNode(part))
        const emptyCount = parts.reduce((sum, part) => sum + part.empty, 0)
        return {
          empty: Math.min(2, emptyCount),
          first: parts.flatMap(({ first }) => first),
          last: parts.flatMap(({ last }) => last),
        }
      }
      case 'repeat':
        return addRepeat(node)
      default:
        return emptyPart
    }
  }

  const rootPart = addNode(root)
  connect([0], rootPart.first)
  if (!options.hasAnchor) connect([0], [0])
  return { positions, lookarounds: looks }
}
