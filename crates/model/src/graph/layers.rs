//! Where the tasks of a graph stand in a drawing of it.

use super::{Graph, Index};

/// The place of a task in a drawing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Its column: one more than the highest of the tasks it needs.
    pub layer: usize,
    /// Its row in the column, from 0.
    pub row: usize,
}

impl Graph {
    /// Returns the place of every task, in plan order.
    ///
    /// The column is the longest way from a task without needs. The rows of a column are sorted twice
    /// by the mean row of the neighbors, once down and once up, so that few lines cross. Tasks in a
    /// cycle, or behind one, come after those of their needs that are in no cycle.
    pub fn places(&self) -> Vec<Place> {
        let layers = self.layers();
        let mut columns: Vec<Vec<Index>> = Vec::new();
        for (task, &layer) in layers.iter().enumerate() {
            if columns.len() <= layer {
                columns.resize(layer + 1, Vec::new());
            }
            columns[layer].push(task);
        }
        let mut rows = vec![0; self.len()];
        let number = |column: &[Index], rows: &mut Vec<usize>| {
            for (row, &task) in column.iter().enumerate() {
                rows[task] = row;
            }
        };
        for column in &columns {
            number(column, &mut rows);
        }
        for column in &mut columns {
            sort(column, &self.dependencies, &rows);
            number(column, &mut rows);
        }
        for column in columns.iter_mut().rev() {
            sort(column, &self.dependents, &rows);
            number(column, &mut rows);
        }
        let places = layers.into_iter().zip(rows);
        places.map(|(layer, row)| Place { layer, row }).collect()
    }

    fn layers(&self) -> Vec<usize> {
        let mut layers: Vec<Option<usize>> = vec![None; self.len()];
        let mut order = self.order();
        let mut is_ordered = vec![false; self.len()];
        for &task in &order {
            is_ordered[task] = true;
        }
        order.extend((0..self.len()).filter(|&task| !is_ordered[task]));
        for task in order {
            let known = self.dependencies[task].iter().filter_map(|&d| layers[d]);
            layers[task] = Some(known.max().map_or(0, |layer| layer + 1));
        }
        layers.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// Sorts a column by the mean row of each task's neighbors; a task without any stays near its row.
fn sort(column: &mut [Index], neighbors: &[Vec<Index>], rows: &[usize]) {
    let center = |task: Index| {
        let near = &neighbors[task];
        let (sum, n) = match near.len() {
            0 => (rows[task], 1),
            n => (near.iter().map(|&other| rows[other]).sum(), n),
        };
        // Millionths of a row: whole numbers are ordered totally.
        sum * 1_000_000 / n
    };
    column.sort_by_key(|&task| (center(task), task));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(text: &str) -> Graph {
        let tasks = text.split_whitespace().map(|task| {
            let (id, needs) = task.split_once('<').unwrap_or((task, ""));
            let needs = needs.split(',').filter(|need| !need.is_empty());
            (id.to_owned(), needs.map(str::to_owned).collect())
        });
        Graph::new(tasks).0
    }

    fn drawn(text: &str) -> String {
        let graph = graph(text);
        let places = graph.places();
        let named = graph.ids().iter().zip(places);
        let named = named.map(|(id, place)| format!("{id}{}.{}", place.layer, place.row));
        named.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_task_is_in_the_column_after_the_last_of_its_needs() {
        assert_eq!(drawn("a b<a c<b d<a,c e"), "a0.0 b1.0 c2.0 d3.0 e0.1");
        assert_eq!(drawn(""), "");
    }

    #[test]
    fn rows_follow_the_neighbors_so_that_lines_do_not_cross() {
        assert_eq!(drawn("a b x<b y<a"), "a0.0 b0.1 x1.1 y1.0");
    }

    #[test]
    fn tasks_of_a_cycle_have_a_place_too() {
        assert_eq!(drawn("s a<b,s b<a c<b"), "s0.0 a1.0 b2.0 c3.0");
    }

    proptest! {
        #[test]
        fn no_two_tasks_have_one_place_and_needs_are_to_the_left(
            edges in proptest::collection::vec((0_usize..14, 0_usize..14), 0..40),
        ) {
            // Only needs on earlier tasks, so there is no cycle.
            let tasks = (0..14_usize).map(|task| {
                let needs = edges.iter().filter(|(t, d)| *t == task && d < t);
                (task.to_string(), needs.map(|(_, d)| d.to_string()).collect())
            });
            let (graph, _) = Graph::new(tasks);
            let places = graph.places();
            for task in 0..14 {
                for &need in graph.dependencies(task) {
                    prop_assert!(places[need].layer < places[task].layer);
                }
                for other in 0..task {
                    prop_assert_ne!(places[other], places[task]);
                }
            }
        }
    }
}
