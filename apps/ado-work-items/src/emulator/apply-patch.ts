import * as z from 'zod'
import { missingFields, ruleApplies } from '../rules/missing-fields.ts'
import { parseRules } from '../rules/rule.ts'
import type { SeedField, SeedProcess, SeedType, SeedWorkItem } from './seed.ts'
import { type BrokenField, noSuchWorkItem, ruleViolation, ServiceError } from './service-error.ts'

const operations = z.array(z.object({ op: z.enum(['test', 'add']), path: z.string(), value: z.unknown() })).max(200)
const linkValue = z.object({ rel: z.string(), url: z.string() })
type Operation = z.infer<typeof operations>[number]

/** The work item and the process that a patch applies to. */
export interface PatchScope {
  readonly item: SeedWorkItem
  readonly process: SeedProcess
  exists(id: number): boolean
}

/**
 * Returns the work item after a JSON Patch, still with its old revision. Does not change its arguments. Throws {@link
 * ServiceError}.
 */
export function applyPatch(scope: PatchScope, patch: unknown): SeedWorkItem {
  const parsed = operations.safeParse(patch)
  if (!parsed.success) throw invalid('You must pass a valid patch document in the body of the request.')
  const item = structuredClone(scope.item)
  for (const operation of parsed.data) applyOperation(operation, item, scope)
  const type = typeOf(scope.process, item)
  for (const field of emptiedFields(scope.item, item, type)) delete item.fields[field]
  const broken = [...valuesOutOfRange(item, scope.process, type), ...emptyFields(scope.item, item, type)]
  if (broken.length > 0) throw ruleViolation(broken)
  return item
}

/** Returns the type definition of a work item. */
function typeOf(process: SeedProcess, item: SeedWorkItem): SeedType {
  const type = process.types.find((candidate) => candidate.name === item.fields['System.WorkItemType'])
  if (type === undefined) throw invalid(`Work item ${item.id} is of a type that the process does not have.`)
  return type
}

/** Returns all fields of a type: those of the process, with the states of the type, and those of the type. */
export function fieldsOf(process: SeedProcess, type: SeedType): readonly SeedField[] {
  const shared = process.fields.map((field) =>
    field.referenceName === 'System.State' ? { ...field, allowedValues: type.states } : field,
  )
  return [...shared, ...type.fields]
}

function applyOperation(operation: Operation, item: SeedWorkItem, scope: PatchScope): void {
  if (operation.op === 'test') return testValue(operation, item)
  if (operation.path === '/relations/-') return addLink(operation, item, scope)
  const name = /^\/fields\/([^/]+)$/.exec(operation.path)?.[1]
  if (name === undefined) throw invalid(`VS403691: The path ${operation.path} cannot be patched.`)
  item.fields[name] = readValue(definitionOf(name, item, scope.process), operation.value, scope.process)
}

function testValue(operation: Operation, item: SeedWorkItem): void {
  if (operation.path === '/rev' && item.rev === operation.value) return
  throw new ServiceError(412, 'TestPatchOperationFailedException', {
    message: `VS403351: Test Operation for path ${operation.path} failed, value ${item.rev} was not equal to test value ${String(operation.value)}.`,
  })
}

function addLink(operation: Operation, item: SeedWorkItem, scope: PatchScope): void {
  const { rel, url } = linkValue.parse(operation.value)
  const target = Number(/\/workItems\/(\d+)$/i.exec(url)?.[1])
  if (!scope.exists(target)) throw noSuchWorkItem(target)
  if (item.relations.some((link) => link.rel === rel && link.target === target)) {
    throw invalid(`TF201036: You cannot add a ${rel} link to work item ${target} because the link already exists.`)
  }
  item.relations.push({ rel, target })
}

function definitionOf(name: string, item: SeedWorkItem, process: SeedProcess): SeedField {
  const definition = fieldsOf(process, typeOf(process, item)).find((field) => field.referenceName === name)
  if (definition === undefined) throw invalid(`TF51535: Cannot find field ${name}.`)
  if (definition.readOnly) throw ruleViolation([{ ...definition, flags: 'readOnly' }])
  return definition
}

function readValue(definition: SeedField, value: unknown, process: SeedProcess): unknown {
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
      const person = process.people.find((candidate) => names(candidate).includes(String(value).toLowerCase()))
      if (person === undefined)
        throw ruleViolation([{ ...definition, flags: 'hasValues, limitedToValues, invalidListValue' }])
      return person
    }
    default:
      return String(value)
  }
}

function names({ displayName, uniqueName }: { displayName: string; uniqueName: string }): string[] {
  return [displayName, uniqueName, `${displayName} <${uniqueName}>`].map((name) => name.toLowerCase())
}

function valuesOutOfRange(item: SeedWorkItem, process: SeedProcess, type: SeedType): readonly BrokenField[] {
  return fieldsOf(process, type)
    .filter((field) => {
      const value = item.fields[field.referenceName]
      const given = value !== undefined && value !== ''
      return given
        ? field.allowedValues.length > 0 && !field.allowedValues.includes(String(value))
        : field.alwaysRequired
    })
    .map((field) => ({
      ...field,
      flags: field.allowedValues.length > 0 ? 'hasValues, limitedToValues, invalidListValue' : 'required, invalidEmpty',
    }))
}

/** Returns the fields that rules of the type clear after a change. */
function emptiedFields(before: SeedWorkItem, after: SeedWorkItem, type: SeedType): readonly string[] {
  const change = { before: before.fields, after: after.fields }
  return parseRules({ value: type.rules })
    .filter((rule) => ruleApplies(rule, change))
    .flatMap(({ empties }) => empties)
}

function emptyFields(before: SeedWorkItem, after: SeedWorkItem, type: SeedType): readonly BrokenField[] {
  const rules = parseRules({ value: type.rules })
  return missingFields(rules, { before: before.fields, after: after.fields }).map(({ field }) => {
    const definition = type.fields.find((candidate) => candidate.referenceName === field)
    const picks = definition !== undefined && definition.allowedValues.length > 0
    return {
      referenceName: field,
      name: definition?.name ?? field,
      flags: picks ? 'required, hasValues, limitedToValues, invalidEmpty' : 'required, invalidEmpty',
    }
  })
}

function invalid(message: string): ServiceError {
  return new ServiceError(400, 'VssPropertyValidationException', { message })
}
