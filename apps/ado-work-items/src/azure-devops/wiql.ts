/** The filters of a search for work items. An absent filter matches every work item. */
export interface WorkItemFilters {
  readonly state?: string | undefined
  readonly type?: string | undefined
  /** The name or e-mail address of a person, or `me`. */
  readonly assignedTo?: string | undefined
  /** Words in the title. */
  readonly text?: string | undefined
  /** The first digits of the id. */
  readonly idPrefix?: string | undefined
}

/** The maximum number of digits of an id. */
const idDigits = 10

/**
 * Builds the query for work items in WIQL, the most recently changed first.
 *
 * Every value is a quoted literal, so no input can change the structure of the query.
 */
export function buildWiql(filters: WorkItemFilters): string {
  const conditions = [
    '[System.TeamProject] = @project',
    ...equals('System.State', filters.state),
    ...equals('System.WorkItemType', filters.type),
    ...assignedTo(filters.assignedTo),
    ...(filters.text === undefined ? [] : [`[System.Title] CONTAINS ${quote(filters.text)}`]),
    ...(filters.idPrefix === undefined ? [] : [idsThatBegin(filters.idPrefix)]),
  ]
  return `SELECT [System.Id] FROM WorkItems WHERE ${conditions.join(' AND ')} ORDER BY [System.ChangedDate] DESC`
}

/** Returns a WIQL string literal: single quotes around the text, and doubled inside it. */
export function quote(value: string): string {
  return `'${value.replace(/\p{Cc}/gu, ' ').replaceAll("'", "''")}'`
}

function equals(field: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`[${field}] = ${quote(value)}`]
}

function assignedTo(person: string | undefined): string[] {
  return person?.toLowerCase() === 'me' ? ['[System.AssignedTo] = @Me'] : equals('System.AssignedTo', person)
}

/**
 * Returns the condition for ids with this prefix. WIQL has no prefix match for numbers, so each possible length becomes
 * one range.
 */
function idsThatBegin(prefix: string): string {
  const ranges = []
  for (let more = 0; prefix.length + more <= idDigits; more++) {
    const first = Number(prefix) * 10 ** more
    ranges.push(`([System.Id] >= ${first} AND [System.Id] <= ${first + 10 ** more - 1})`)
  }
  return `(${ranges.join(' OR ')})`
}
