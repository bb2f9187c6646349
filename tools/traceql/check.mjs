// SPDX-License-Identifier: Apache-2.0
// Reads a JSON array of TraceQL queries from standard input and writes one of the positions at which each is wrong,
// as Grafana's own grammar sees it: an empty list for a query that is right.
import { readFileSync } from "node:fs";
import { parser } from "@grafana/lezer-traceql";

const queries = JSON.parse(readFileSync(0, "utf-8"));
const faults = queries.map((query) => {
  const positions = [];
  parser.parse(query).iterate({
    enter: (node) => {
      if (node.type.isError) positions.push(node.from);
    },
  });
  return positions;
});
process.stdout.write(JSON.stringify(faults));
