<?php
/**
 * Renders a comparison of lines as WordPress does, with deleted and inserted words and lines marked by elements, in one or two columns.
 * Loaded where versions are compared, after WordPress's own classes.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// phpcs:disable PSR2.Methods.MethodDeclaration.Underscore -- names of WordPress's class.

/**
 * Rows of a table.
 */
class Newsroom_Version_Diff extends WP_Text_Diff_Renderer_Table {

	/** Most pairs of lines that are compared to find out which lines correspond. */
	const MOST_PAIRS = 10000;

	/**
	 * Whether a row has been drawn.
	 *
	 * @var bool
	 */
	private $begun = false;

	/**
	 * A row for omitted lines, before each part except one that starts at the top.
	 *
	 * @param string $header Line numbers, such as `3c3`.
	 * @return string
	 */
	public function _startBlock( $header ) {
		$first       = ! $this->begun && preg_match( '/^[01](?:\D|$)/', $header );
		$this->begun = true;
		return $first ? '' : sprintf( '<tr class="newsroom-diff-gap"><td colspan="%1$d"><span aria-hidden="true">⋯</span><span class="screen-reader-text">%2$s</span></td></tr>', $this->_show_split_view ? 2 : 1, esc_html__( 'Unchanged lines are left out.', 'newsroom' ) );
	}

	/**
	 * Lines that were inserted.
	 *
	 * @param string[] $lines  Lines.
	 * @param bool     $encode Whether they are text and not yet markup.
	 * @return string
	 */
	public function _added( $lines, $encode = true ) {
		return $this->whole_lines( $lines, $encode, 'ins' );
	}

	/**
	 * Lines that were deleted.
	 *
	 * @param string[] $lines  Lines.
	 * @param bool     $encode Whether they are text and not yet markup.
	 * @return string
	 */
	public function _deleted( $lines, $encode = true ) {
		return $this->whole_lines( $lines, $encode, 'del' );
	}

	/**
	 * Lines that were changed; WordPress guesses which old and new lines correspond.
	 *
	 * @param string[] $orig  Before.
	 * @param string[] $final After.
	 * @return string
	 */
	public function _changed( $orig, $final ) { // phpcs:ignore Universal.NamingConventions.NoReservedKeywordParameterNames
		if ( count( $orig ) * count( $final ) > self::MOST_PAIRS ) {
			return $this->_deleted( $orig ) . $this->_added( $final );
		}
		list( , , $before, $after ) = $this->interleave_changed_lines( $orig, $final );
		$rows                       = '';
		foreach ( array_keys( $before ) as $row ) {
			$old = isset( $orig[ $before[ $row ] ] ) ? $orig[ $before[ $row ] ] : null;
			$new = isset( $final[ $after[ $row ] ] ) ? $final[ $after[ $row ] ] : null;
			if ( null !== $old && null !== $new ) {
				$rows .= $this->pair( $old, $new );
			} elseif ( null !== $old ) {
				$rows .= $this->_deleted( array( $old ) );
			} elseif ( null !== $new ) {
				$rows .= $this->_added( array( $new ) );
			}
		}
		return $rows;
	}

	/**
	 * Whole lines, marked.
	 *
	 * @param string[] $lines  Lines.
	 * @param bool     $encode Whether they are text and not yet markup.
	 * @param string   $mark   `ins` or `del`.
	 * @return string
	 */
	private function whole_lines( $lines, $encode, $mark ) {
		$rows = '';
		foreach ( $lines as $line ) {
			$text  = $encode ? htmlspecialchars( $line ) : $line;
			$cell  = 'ins' === $mark ? $this->addedLine( "<ins>$text</ins>" ) : $this->deletedLine( "<del>$text</del>" );
			$empty = $this->_show_split_view ? $this->emptyLine() : '';
			$rows .= '<tr>' . ( 'ins' === $mark ? $empty . $cell : $cell . $empty ) . "</tr>\n";
		}
		return $rows;
	}

	/**
	 * A changed line, with its changed words marked; if old and new have little in common, the whole lines are marked.
	 *
	 * @param string $old Before.
	 * @param string $new After.
	 * @return string
	 */
	private function pair( $old, $new ) {
		$renderer = new $this->inline_diff_renderer();
		$words    = trim( $renderer->render( new Text_Diff( 'auto', array( array( $old ), array( $new ) ) ) ) );
		preg_match_all( '!<(ins|del)>.*?</\1>!s', $words, $marked );
		$changed = strlen( wp_strip_all_tags( implode( ' ', $marked[0] ) ) );
		$ratio   = $changed / max( 1, strlen( wp_strip_all_tags( $words ) ) * 2 - $changed );
		if ( $ratio > $this->_diff_threshold ) {
			if ( ! $this->_show_split_view ) {
				return $this->_deleted( array( $old ) ) . $this->_added( array( $new ) );
			}
			return '<tr>' . $this->deletedLine( '<del>' . htmlspecialchars( $old ) . '</del>' ) . $this->addedLine( '<ins>' . htmlspecialchars( $new ) . '</ins>' ) . "</tr>\n";
		}
		if ( $this->_show_split_view ) {
			return '<tr>' . $this->deletedLine( preg_replace( '!<ins>.*?</ins>!s', '', $words ) ) . $this->addedLine( preg_replace( '!<del>.*?</del>!s', '', $words ) ) . "</tr>\n";
		}
		return '<tr><td class="newsroom-diff-changed"><span class="screen-reader-text">' . esc_html__( 'Changed:', 'newsroom' ) . " </span>$words</td></tr>\n";
	}
}
