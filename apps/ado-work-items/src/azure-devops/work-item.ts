import * as z from 'zod'

/** The value of a field. A person is written as `Name <address>`. */
export type FieldValue = string | number | boolean

/** Field values by reference name, such as `System.State`. */
export type Fields = Readonly<Record<string, FieldValue>>

/** A link of a work item. */
export interface WorkItemLink {
  /** The link type's reference name, such as `System.LinkTypes.Duplicate-Reverse`. */
  readonly type: string
  readonly url: string
  /** The id of the linked work item. Absent for a link to another kind of resource. */
  readonly workItemId?: number | undefined
}

/** A work item of the service. */
export interface WorkItem {
  readonly id: number
  /** The revision, which increases with each change. A write can require it. */
  readonly rev: number
  readonly type: string
  readonly title: string
  readonly state: string
  readonly assignedTo?: string | undefined
  readonly fields: Fields
  /** The accepted spellings of the people in fields, by reference name: the name, the address, and both. */
  readonly people: ReadonlyMap<string, readonly string[]>
  readonly links: readonly WorkItemLink[]
  /** The URL in the REST API, which links contain. */
  readonly url: string
}

const person = z.object({ displayName: z.string(), uniqueName: z.string().optional() })
const wireLink = z.object({ rel: z.string(), url: z.string() })
const wireWorkItem = z.object({
  id: z.number().int(),
  rev: z.number().int(),
  fields: z.record(z.string(), z.unknown()),
  relations: z.array(wireLink).nullish(),
  url: z.string().catch(''),
})

/** Parses a work item from the service's JSON. Throws `ZodError`. */
export function parseWorkItem(value: unknown): WorkItem {
  const wire = wireWorkItem.parse(value)
  const { fields, people } = readFields(wire.fields)
  const assignedTo = fields['System.AssignedTo']
  return {
    id: wire.id,
    rev: wire.rev,
    type: String(fields['System.WorkItemType'] ?? 'Work item'),
    title: String(fields['System.Title'] ?? ''),
    state: String(fields['System.State'] ?? ''),
    ...(assignedTo === undefined ? {} : { assignedTo: String(assignedTo) }),
    fields,
    people,
    links: (wire.relations ?? []).map(readLink),
    url: wire.url,
  }
}

function readFields(wire: Readonly<Record<string, unknown>>): Pick<WorkItem, 'fields' | 'people'> {
  const fields: Record<string, FieldValue> = {}
  const people = new Map<string, readonly string[]>()
  for (const [name, value] of Object.entries(wire)) {
    const someone = person.safeParse(value)
    if (someone.success) {
      const ways = waysToWrite(someone.data)
      people.set(name, ways)
      fields[name] = ways[0]
    } else if (isFieldValue(value)) {
      fields[name] = value
    }
  }
  return { fields, people }
}

function waysToWrite({ displayName, uniqueName }: z.infer<typeof person>): readonly [string, ...string[]] {
  return uniqueName === undefined ? [displayName] : [`${displayName} <${uniqueName}>`, displayName, uniqueName]
}

function isFieldValue(value: unknown): value is FieldValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function readLink(link: z.infer<typeof wireLink>): WorkItemLink {
  const workItemId = /\/_apis\/wit\/workItems\/(\d{1,10})$/i.exec(link.url)?.[1]
  return workItemId === undefined
    ? { type: link.rel, url: link.url }
    : { type: link.rel, url: link.url, workItemId: Number(workItemId) }
}
