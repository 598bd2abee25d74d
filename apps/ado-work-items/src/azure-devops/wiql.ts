/** The filters of a work item search; an absent one does not filter. */
export interface WorkItemFilters {
  readonly state?: string | undefined
  readonly type?: string | undefined
  /** A person's name or address, or `me`. */
  readonly assignedTo?: string | undefined
  /** Words in the title. */
  readonly text?: string | undefined
  /** The first digits of the id. */
  readonly idPrefix?: string | undefined
}

/** The longest id has ten digits. */
const idDigits = 10

/**
 * The query for work items, in the service's query language, newest change first.
 *
 * Every value becomes a quoted literal; nothing from outside is ever part of the query's own words.
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

/** A string literal of the query language: in single quotes, which are doubled inside. */
export function quote(value: string): string {
  return `'${value.replace(/\p{Cc}/gu, ' ').replaceAll("'", "''")}'`
}

function equals(field: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`[${field}] = ${quote(value)}`]
}

function assignedTo(person: string | undefined): string[] {
  return person?.toLowerCase() === 'me' ? ['[System.AssignedTo] = @Me'] : equals('System.AssignedTo', person)
}

/** The query language has no prefixes of numbers, so a prefix becomes one range for each possible length. */
function idsThatBegin(prefix: string): string {
  const ranges = []
  for (let more = 0; prefix.length + more <= idDigits; more++) {
    const first = Number(prefix) * 10 ** more
    ranges.push(`([System.Id] >= ${first} AND [System.Id] <= ${first + 10 ** more - 1})`)
  }
  return `(${ranges.join(' OR ')})`
}
