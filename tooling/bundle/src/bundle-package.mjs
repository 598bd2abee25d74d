#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { bundlePackage } from './bundle.mjs'
import { copyGuide } from './copy-guide.mjs'

const { values } = parseArgs({
  options: { guide: { type: 'string', multiple: true, default: [] }, joined: { type: 'boolean', default: false } },
})

await bundlePackage(process.cwd(), { joined: values.joined })
for (const name of values.guide) await copyGuide(process.cwd(), name)
