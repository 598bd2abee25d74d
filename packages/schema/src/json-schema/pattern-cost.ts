import { buildAutomaton, type Position } from './pattern-automaton.ts'
import { type CodePoints, parsePattern, type PatternNode, UnboundedPatternError } from './pattern-parser.ts'

/** The steps that the analysis of all regular expressions of a schema may still take. */
export interface AnalysisBudget {
  remainingSteps: number
}

/** A bound of the steps that matching takes: `factor * length ** degree`. */
export interface PatternCost {
  readonly factor: number
  readonly degree: number
}

/**
 * Bounds the steps that a backtracking matcher takes for a regular expression, for any text. The bound counts
 * the ways through the expression's automaton that read the same text: one way where the next character always decides,
 * and a power of the length where loops follow one another that take the same characters.
 *
 * @throws UnboundedPatternError where the ways grow exponentially, as for `^(a+)+$`.
 */
export function costOfPattern(pattern: string, budget: AnalysisBudget): PatternCost {
  const root = trimTrailingRepeats(parsePattern(pattern))
  return costOf(root, { hasAnchor: isAnchored(root), isBackward: false, budget })
}

/** The longest text that a regular expression may be matched with, when that may take so many steps. */
export function maxTextLengthOf({ factor, degree }: PatternCost, steps: number): number {
  return Math.floor((steps / factor) ** (1 / degree))
}

interface CostOptions {
  readonly hasAnchor: boolean
  readonly isBackward: boolean
  readonly budget: AnalysisBudget
}

function costOf(root: PatternNode, options: CostOptions): PatternCost {
  const { budget } = options
  const { positions, lookarounds } = buildAutomaton(root, options)
  let cost = costOfPositions(positions, budget)
  for (const lookaround of lookarounds) {
    const lookaroundCost = costOf(lookaround.body, { hasAnchor: true, isBackward: lookaround.isBehind, budget })
    // A match at the beginning is looked for once, and one elsewhere once for each step.
    const isLeading = options.hasAnchor && isAtBeginning(lookaround, root)
    cost = isLeading
      ? { factor: cost.factor + lookaroundCost.factor, degree: Math.max(cost.degree, lookaroundCost.degree) }
      : { factor: cost.factor * lookaroundCost.factor, degree: cost.degree + lookaroundCost.degree }
  }
  return cost
}

/** Returns true when every match begins at the beginning of the text. */
function isAnchored(node: PatternNode): boolean {
  if (node.kind === 'start') return true
  if (node.kind === 'choice') return node.parts.every(isAnchored)
  if (node.kind === 'repeat') return node.min > 0 && isAnchored(node.body)
  return node.kind === 'sequence' && node.parts.slice(0, countLeadingAssertions(node.parts) + 1).some(isAnchored)
}

function isAtBeginning(lookaround: PatternNode, root: PatternNode): boolean {
  return root.kind === 'sequence' && root.parts.slice(0, countLeadingAssertions(root.parts)).includes(lookaround)
}

/** Counts the parts at the beginning that take no character. */
function countLeadingAssertions(parts: readonly PatternNode[]): number {
  const firstConsumingIndex = parts.findIndex(({ kind }) => kind !== 'start' && kind !== 'assertion' && kind !== 'look')
  return firstConsumingIndex === -1 ? parts.length : firstConsumingIndex
}

/** A test is over once the end is reached, so that a repeated character there counts as often as it must occur. */
function trimTrailingRepeats(root: PatternNode): PatternNode {
  if (root.kind !== 'sequence') return root
  const lastPart = root.parts.at(-1)
  if (lastPart?.kind !== 'repeat' || lastPart.body.kind !== 'set' || lastPart.max !== Infinity) return root
  return { kind: 'sequence', parts: [...root.parts.slice(0, -1), { ...lastPart, max: lastPart.min }] }
}

/** Positions that reach one another. */
interface Component {
  readonly members: ReadonlySet<number>
  readonly hasLoop: boolean
}

/** The ways from a component to the end: how many there are, how long they are, and whether a loop is among them. */
interface MatchCost extends PatternCost {
  readonly pathLength: number
  readonly canLoop: boolean
}

function costOfPositions(positions: readonly Position[], budget: AnalysisBudget): PatternCost {
  for (const nextPosition of positions.flatMap(({ nextPositions }) => nextPositions))
    spendSteps(budget, positions[nextPosition]?.codePoints.length ?? 0)
  const costsByPosition = new Map<number, MatchCost>()
  // Those that come later in the expression are found first.
  for (const component of findComponents(positions)) {
    if (component.hasLoop) rejectExponentialPattern(component, positions, budget)
    const componentCost = costOfComponent(
      component,
      costAfterComponent(component, positions, costsByPosition),
      positions,
    )
    for (const member of component.members) costsByPosition.set(member, componentCost)
  }
  const { factor, degree } = costsByPosition.get(0) ?? endCost
  return { factor, degree: degree + 1 }
}

const endCost: MatchCost = { factor: 1, degree: 0, pathLength: 0, canLoop: false }

function costAfterComponent(
  { members }: Component,
  positions: readonly Position[],
  costsByPosition: ReadonlyMap<number, MatchCost>,
): MatchCost {
  const nextPositions = [...members].flatMap((member) => positions[member]?.nextPositions ?? [])
  return [...new Set(nextPositions)].reduce(
    (maxCost, position) => largerCost(maxCost, costsByPosition.get(position) ?? endCost),
    endCost,
  )
}

function largerCost(one: MatchCost, other: MatchCost): MatchCost {
  const estimateSteps = ({ factor, degree }: MatchCost): number => factor * 1000 ** degree
  const higherCost = estimateSteps(other) > estimateSteps(one) ? other : one
  return {
    ...higherCost,
    pathLength: Math.max(one.pathLength, other.pathLength),
    canLoop: one.canLoop || other.canLoop,
  }
}

function costOfComponent(
  { members, hasLoop }: Component,
  costAfter: MatchCost,
  positions: readonly Position[],
): MatchCost {
  const componentPositions = [...members]
    .map((member) => positions[member])
    .filter((position) => position !== undefined)
  const choices = Math.max(
    ...componentPositions.map(({ nextPositions }) => countOverlappingPositions(nextPositions, positions)),
  )
  const componentCost = {
    ...costAfter,
    pathLength: costAfter.pathLength + members.size,
    canLoop: hasLoop || costAfter.canLoop,
  }
  if (choices < 2) return componentCost
  if (!hasLoop) return { ...componentCost, factor: costAfter.factor * choices }
  const factor = costAfter.factor * choices * members.size
  // It is left at any character. Each way out lasts until its end, or as long as another loop.
  if (!costAfter.canLoop) return { ...componentCost, factor: factor * (costAfter.pathLength + 1) }
  const maxRepeats = componentPositions.length === 1 ? (componentPositions[0]?.maxRepeats ?? Infinity) : Infinity
  return Number.isFinite(maxRepeats)
    ? { ...componentCost, factor: factor * maxRepeats }
    : { ...componentCost, factor, degree: costAfter.degree + 1 }
}

/** Returns the largest number of the positions that take the same character. */
function countOverlappingPositions(nextPositions: readonly number[], positions: readonly Position[]): number {
  const rangeEnds: [at: number, change: number][] = []
  for (const position of nextPositions) {
    const points = positions[position]?.codePoints ?? []
    for (let at = 0; at < points.length; at += 2) rangeEnds.push([points[at] ?? 0, 1], [(points[at + 1] ?? 0) + 1, -1])
  }
  let [overlapCount, maxOverlapCount] = [0, 0]
  for (const [, change] of rangeEnds.toSorted(([a, up], [b, down]) => a - b || up - down)) {
    overlapCount += change
    maxOverlapCount = Math.max(maxOverlapCount, overlapCount)
  }
  return maxOverlapCount
}

function spendSteps(budget: AnalysisBudget, steps: number): void {
  budget.remainingSteps -= steps
  if (budget.remainingSteps < 0) throw new UnboundedPatternError('is too complex')
}

/** Throws when two ways lead from a position back to it with the same text: each round doubles them. */
function rejectExponentialPattern(
  { members }: Component,
  positions: readonly Position[],
  budget: AnalysisBudget,
): void {
  const findNextInComponent = (position: number): number[] =>
    (positions[position]?.nextPositions ?? []).filter((next) => members.has(next))
  const seenPairs = new Set<number>()
  const pairs: [number, number][] = []
  const visitPair = (one: number, other: number): void => {
    spendSteps(budget, 1)
    if (!haveCommonPoint(positions[one]?.codePoints ?? [], positions[other]?.codePoints ?? [])) return
    if (one === other) throw new UnboundedPatternError('takes a time that grows exponentially with the text')
    const key = one * positions.length + other
    if (seenPairs.has(key)) return
    seenPairs.add(key)
    pairs.push([one, other])
  }
  for (const member of members) {
    const nextPositions = findNextInComponent(member)
    for (const [index, one] of nextPositions.entries())
      for (const other of nextPositions.slice(index + 1)) visitPair(one, other)
  }
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [firstNextPositions, secondNextPositions] = [findNextInComponent(pair[0]), findNextInComponent(pair[1])]
    for (const one of firstNextPositions) for (const other of secondNextPositions) visitPair(one, other)
  }
}

function haveCommonPoint(one: CodePoints, other: CodePoints): boolean {
  let [index, otherIndex] = [0, 0]
  while (index < one.length && otherIndex < other.length) {
    const [rangeStart = 0, rangeEnd = 0] = one.slice(index, index + 2)
    const [otherStart = 0, otherEnd = 0] = other.slice(otherIndex, otherIndex + 2)
    if (rangeStart <= otherEnd && otherStart <= rangeEnd) return true
    if (rangeEnd < otherEnd) index += 2
    else otherIndex += 2
  }
  return false
}

/** The strongly connected components, those first that reach no other (Tarjan). */
function findComponents(positions: readonly Position[]): Component[] {
  const components: Component[] = []
  const lowLinks = new Map<number, number>()
  const stack: number[] = []
  const finishedPositions = new Set<number>()
  const visitPosition = (position: number): number => {
    const ownIndex = lowLinks.size
    let lowLink = ownIndex
    lowLinks.set(position, ownIndex)
    stack.push(position)
    const nextPositions = new Set(positions[position]?.nextPositions)
    for (const nextPosition of nextPositions) {
      if (finishedPositions.has(nextPosition)) continue
      const knownLowLink = lowLinks.get(nextPosition)
      lowLink = Math.min(lowLink, knownLowLink ?? visitPosition(nextPosition))
    }
    if (lowLink < ownIndex) return lowLink
    const members = new Set(stack.splice(stack.indexOf(position)))
    for (const member of members) finishedPositions.add(member)
    components.push({ members, hasLoop: members.size > 1 || nextPositions.has(position) })
    return lowLink
  }
  visitPosition(0)
  return components
}
