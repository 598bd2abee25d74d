import { tool } from '@x/server'
import * as z from 'zod'

/** This schema is listed unchanged, because the suite checks each of its keywords. */
const verbatim = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const

/** Tools for the scenarios that test input schemas. */
export const schemaTools = [
  tool('json_schema_2020_12_tool', {
    description: 'Has an input schema in JSON Schema',
    input: verbatim,
    run: (args) => `Called with ${JSON.stringify(args)}`,
  }),
  tool('test_x_mcp_header', {
    description: 'Has a parameter that a header repeats',
    input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    run: ({ region }) => `The region is ${region}`,
  }),
]
