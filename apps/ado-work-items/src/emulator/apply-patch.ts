import * as z from 'zod'
import { missingFields, ruleApplies } from '../rules/missing-fields.ts'
import { parseRules } from '../rules/rule.ts'
import type { SeedField, SeedProcess, SeedType, SeedWorkItem } from './seed.ts'
import { invalid, ruleViolation, ServiceError } from './service-error.ts'

const operations = z.array(z.object({ op: z.enum(['test', 'add']), path: z.string(), value: z.unknown() })).max(200)
const linkValue = z.object({ rel: z.string(), url: z.string() })
const notInList = 'hasValues, limitedToValues, invalidListValue'

/**
 * Returns the work item after a JSON Patch, still with its old revision. Does not change its arguments. Throws {@link
 * ServiceError}.
 */
export function applyPatch(before: SeedWorkItem, process: SeedProcess, patch: unknown): SeedWorkItem {
  const parsed = operations.safeParse(patch)
  if (!parsed.success) throw invalid('You must pass a valid patch document in the body of the request.')
  const item = structuredClone(before)
  const type = findType(process, String(item.fields['System.WorkItemType']))
  const fields = fieldsOf(process, type)
  for (const operation of parsed.data) applyOperation(operation, item, { fields, people: process.people })

  const rules = parseRules({ value: type.rules })
  const change = { before: before.fields, after: item.fields }
  const emptied = rules.filter((rule) => ruleApplies(rule, change)).flatMap(({ empties }) => empties)
  for (const name of emptied) delete item.fields[name]
  const missing = missingFields(rules, change).map(({ field }) => field)
  const broken = fields.flatMap((field) => {
    const isRequired = field.alwaysRequired || missing.includes(field.referenceName)
    const flags = findProblem(field, item.fields[field.referenceName], isRequired)
    return flags === undefined ? [] : [{ ...field, flags }]
  })
  if (broken.length > 0) throw ruleViolation(broken)
  return item
}

/** Returns a type of the process by its name or its reference name. */
export function findType({ types }: SeedProcess, name: string): SeedType {
  const type = types.find((candidate) => candidate.name === name || candidate.referenceName === name)
  if (type !== undefined) return type
  throw new ServiceError(404, 'WorkItemTypeNotFoundException', `VS402323: Work item type ${name} does not exist.`)
}

/** Returns all fields of a type: those of the process, with the states of the type, and those of the type. */
export function fieldsOf(process: SeedProcess, type: SeedType): readonly SeedField[] {
  const shared = process.fields.map((field) =>
    field.referenceName === 'System.State' ? { ...field, allowedValues: type.states } : field,
  )
  return [...shared, ...type.fields]
}

interface PatchScope extends Pick<SeedProcess, 'people'> {
  readonly fields: readonly SeedField[]
}

function applyOperation(operation: z.infer<typeof operations>[number], item: SeedWorkItem, scope: PatchScope): void {
  const { op, path, value } = operation
  if (op === 'test') return testValue(path, value, item)
  if (path === '/relations/-') {
    const { rel, url } = linkValue.parse(value)
    item.relations.push({ rel, target: Number(/\/workItems\/(\d+)$/i.exec(url)?.[1]) })
    return
  }
  const name = path.replace('/fields/', '')
  const definition = scope.fields.find((field) => field.referenceName === name)
  if (definition === undefined) throw invalid(`TF51535: Cannot find field ${name}.`)
  item.fields[name] = readValue(definition, value, scope.people)
}

function testValue(path: string, value: unknown, { rev }: SeedWorkItem): void {
  if (path === '/rev' && rev === value) return
  const message = `VS403351: Test Operation for path ${path} failed, value ${rev} was not equal to test value ${value}.`
  throw new ServiceError(412, 'TestPatchOperationFailedException', message)
}

function readValue(definition: SeedField, value: unknown, people: SeedProcess['people']): unknown {
  if (definition.readOnly) throw ruleViolation([{ ...definition, flags: 'readOnly' }])
  if (value === '' || value === null) return ''
  switch (definition.type) {
    case 'integer':
    case 'double': {
      const number = Number(value)
      const fits = definition.type === 'integer' ? Number.isInteger(number) : Number.isFinite(number)
      if (!fits) throw ruleViolation([{ ...definition, flags: 'invalidType' }])
      return number
    }
    case 'identity': {
      const person = people.find((candidate) => names(candidate).includes(String(value).toLowerCase()))
      if (person === undefined) throw ruleViolation([{ ...definition, flags: notInList }])
      return person
    }
    default:
      return String(value)
  }
}

function names({ displayName, uniqueName }: SeedProcess['people'][number]): string[] {
  return [displayName, uniqueName, `${displayName} <${uniqueName}>`].map((name) => name.toLowerCase())
}

/** Returns the flags of the service for a value that breaks a rule. Undefined for any other value. */
function findProblem({ allowedValues }: SeedField, value: unknown, isRequired: boolean): string | undefined {
  const hasList = allowedValues.length > 0
  if (value !== undefined && value !== '')
    return hasList && !allowedValues.includes(String(value)) ? notInList : undefined
  if (!isRequired) return undefined
  return hasList ? 'required, hasValues, limitedToValues, invalidEmpty' : 'required, invalidEmpty'
}
