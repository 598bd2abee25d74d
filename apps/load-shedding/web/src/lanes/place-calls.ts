import type { CallView } from '../../../src/board/snapshot.ts'

/** The position of a call: its lane, and its first cell in the lane. */
export interface Place {
  readonly instance: number
  readonly cell: number
}

/** The size of a lane, in cells. */
export interface LaneSize {
  readonly columns: number
  readonly rows: number
}

/** Returns the width of a call, in cells. */
export function widthOf({ size }: Pick<CallView, 'size'>): number {
  return size === 'heavy' ? 3 : 1
}

/**
 * Assigns each call a position in its lane. A call that stays in its lane keeps its position. A new call in a lane gets
 * the first free position, or none if the lane is full.
 */
export function placeCalls(
  previousPlaces: ReadonlyMap<string, Place>,
  calls: readonly CallView[],
  laneSize: LaneSize,
): ReadonlyMap<string, Place> {
  const taken = new Map<number, Set<number>>()
  const places = new Map<string, Place>()
  const take = (call: CallView, cell: number): void => {
    const cells = taken.get(call.instance) ?? new Set()
    taken.set(call.instance, cells)
    for (let offset = 0; offset < widthOf(call); offset++) cells.add(cell + offset)
    places.set(call.call, { instance: call.instance, cell })
  }
  const fits = (call: CallView, cell: number): boolean => {
    const column = cell % laneSize.columns
    if (column + widthOf(call) > laneSize.columns || cell >= laneSize.columns * laneSize.rows) return false
    const cells = taken.get(call.instance)
    for (let offset = 0; offset < widthOf(call); offset++) if (cells?.has(cell + offset) === true) return false
    return true
  }
  const newCalls = calls.filter((call) => {
    const previous = previousPlaces.get(call.call)
    if (previous?.instance !== call.instance || !fits(call, previous.cell)) return true
    take(call, previous.cell)
    return false
  })
  for (const call of newCalls) {
    for (let cell = 0; cell < laneSize.columns * laneSize.rows; cell++) {
      if (!fits(call, cell)) continue
      take(call, cell)
      break
    }
  }
  return places
}
