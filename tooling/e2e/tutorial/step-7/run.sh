node fleet.mjs
